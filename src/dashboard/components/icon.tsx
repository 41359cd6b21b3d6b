/** Outlines on a grid of 16 by 16. */
const PATHS = {
  overview: "M2 13.5h12M3.5 11V7.5M8 11V3M12.5 11V5.5",
  events: "M9 1.5 3 9h4.5L7 14.5 13 7H8.5z",
  deliveries: "M1.5 8 14 2.5 10.5 14 7.5 9.5zM7.5 9.5 14 2.5",
  logs: "M3 3.5h10M3 8h10M3 12.5h6",
  customers: "M8 7.5a2.75 2.75 0 1 0 0-5.5 2.75 2.75 0 0 0 0 5.5zM2.5 14c.4-2.8 2.5-4.3 5.5-4.3s5.1 1.5 5.5 4.3",
  orders: "M3 5h10l-.8 9H3.8zM5.5 5V4a2.5 2.5 0 0 1 5 0v1",
  payments: "M1.5 3.5h13v9h-13zM1.5 6.5h13M4 10h2.5",
  endpoints:
    "M6.5 9.5a3 3 0 0 0 4.2 0l2.4-2.4a3 3 0 1 0-4.2-4.2L8 3.8M9.5 6.5a3 3 0 0 0-4.2 0L2.9 8.9a3 3 0 1 0 4.2 4.2l.9-.9",
  keys: "M5.5 13.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM8 7.5 13.5 2M11 4.5l2 2",
  apps: "M2.5 2.5h4v4h-4zM9.5 2.5h4v4h-4zM2.5 9.5h4v4h-4zM11.5 9v5M9 11.5h5",
  people:
    "M6 7.5A2.5 2.5 0 1 0 6 2.5a2.5 2.5 0 0 0 0 5zM1.5 13.5c.3-2.5 2-3.8 4.5-3.8s4.2 1.3 4.5 3.8M10.5 2.8a2.5 2.5 0 0 1 0 4.5M12.2 10c1.3.5 2.1 1.7 2.3 3.5",
  clock: "M8 14a6 6 0 1 0 0-12 6 6 0 0 0 0 12zM8 4.5V8l2.5 1.5",
  search: "M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.5 10.5l3.5 3.5",
  copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
  check: "M3 8.5l3.5 3.5L13 4.5",
  alert: "M8 2 1.5 13.5h13zM8 6.5V10M8 11.8v.4",
  remove: "M4 4l8 8M12 4l-8 8",
  menu: "M2 4h12M2 8h12M2 12h12",
  docs: "M3 2.5h7l3 3v8H3zM10 2.5v3h3M5.5 8.5h5M5.5 11h5",
  account:
    "M8 14a6 6 0 1 0 0-12 6 6 0 0 0 0 12zM8 8.5a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM4.3 12.5c.6-1.5 1.9-2.3 3.7-2.3s3.1.8 3.7 2.3",
  exit: "M6 2.5H3v11h3M10 5l3 3-3 3M13 8H6.5",
  run: "M3.5 4.5 7 8l-3.5 3.5M8.5 11.5h4",
  up: "M3.5 10 8 5.5l4.5 4.5",
  down: "M3.5 6 8 10.5 12.5 6",
  back: "M9.5 3.5 5 8l4.5 4.5",
} as const;

export type IconName = keyof typeof PATHS;

export const ICON_NAMES = Object.keys(PATHS) as IconName[];

/** Returns the icon of a page; a document if it has none, such as the page of a new resource. */
export function iconOf(page: string): IconName {
  if (page === "") return "overview";
  return page in PATHS ? (page as IconName) : "docs";
}

/** An icon next to text, hidden from assistive technology. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
