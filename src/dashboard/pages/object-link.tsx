import { hrefOf, Link } from "../router.tsx";

const PAGES: readonly (readonly [prefix: string, page: string])[] = [
  ["cus_", "customers"],
  ["ord_", "orders"],
  ["pay_", "payments"],
  ["evt_", "events"],
  ["we_", "endpoints"],
  ["dlv_", "deliveries"],
  ["app_", "apps"],
  ["key_", "keys"],
];

/** An id that leads to its own page, where there is one. */
export function ObjectLink({ id }: { id: string | null }) {
  if (id === null || id === "") return <span class="soft">–</span>;
  const page = PAGES.find(([prefix]) => id.startsWith(prefix))?.[1];
  if (page === undefined) return <code>{id}</code>;
  return (
    <Link href={hrefOf(page, id)}>
      <code>{id}</code>
    </Link>
  );
}
