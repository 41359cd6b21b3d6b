import { computed, signal } from "@preact/signals";
import { type ComponentChildren, createContext } from "preact";
import { useContext } from "preact/hooks";
import { type Environment, ENVIRONMENTS } from "../contract/environments.ts";

const BASE = "/dashboard";

/** The parts of the URL: `/dashboard/<environment>/<page>/<id>?<query>`. Without an environment it is the sandbox. */
export interface Route {
  environment: Environment;
  /** Empty for the overview. */
  page: string;
  /** Empty for a list. */
  id: string;
  query: URLSearchParams;
}

const address = signal(readAddress());

function readAddress(): string {
  return location.pathname + location.search;
}

export const route = computed<Route>(() => {
  const { pathname, searchParams: query } = new URL(address.value, location.origin);
  const parts = pathname.slice(BASE.length + 1).split("/");
  const [first = ""] = parts;
  const environment = ENVIRONMENTS.find((name) => name === first);
  const [page = "", id = ""] = environment === undefined ? parts : parts.slice(1);
  return { environment: environment ?? "sandbox", page, id: decoded(id), query };
});

/** A URL may be typed manually: what cannot be decoded is treated as an ID that does not exist. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export const environment = computed(() => route.value.environment);

/** Returns the URL of a page in the current environment, unless another is given. */
export function hrefOf(page: string, id = "", query: Record<string, string> = {}, of: Environment = environment.value) {
  const path = [BASE, of, page, encodeURIComponent(id)].join("/").replace(/\/+$/, "");
  const search = new URLSearchParams(query).toString();
  return search === "" ? path : `${path}?${search}`;
}

/** Replaces the URL; the page stays the same. */
export function settle(href: string): void {
  history.replaceState(null, "", href);
  address.value = readAddress();
}

let moves = 0;
let isBack = false;

/** Returns true once the user has navigated. On the first page, the focus stays where the browser put it. */
export function hasMoved(): boolean {
  return moves > 0;
}

/** Returns true if the page was reached by Back or Forward. Such a page restores its previous content. */
export function hasGoneBack(): boolean {
  return isBack;
}

/** The rows of the list from which an object's page was opened. */
let rows: readonly string[] = [];

/** Returns the rows before and after an object in the list from which it was opened. */
export function neighborsOf(id: string): { previous: string | undefined; next: string | undefined } {
  const place = rows.indexOf(id);
  return { previous: rows[place - 1], next: place === -1 ? undefined : rows[place + 1] };
}

function rememberRows(id: string): void {
  const list = document.querySelector(`main [data-row-id="${CSS.escape(id)}"]`)?.closest(".table, .virtual");
  if (list == null) return;
  rows = [...list.querySelectorAll<HTMLElement>("[data-row-id]")].map(({ dataset }) => dataset["rowId"]!);
}

/** Navigates to a URL of the dashboard without a page load. */
export function go(href: string, { replace = false } = {}): void {
  const before = route.value;
  if (replace) history.replaceState(history.state, "", href);
  else {
    rememberPosition();
    history.pushState(null, "", href);
  }
  moves += 1;
  isBack = false;
  address.value = readAddress();
  const { page, id } = route.value;
  rememberRows(id);
  if (before.page !== page || before.id !== id) scrollTo(0, 0);
}

/** A list at least this wide shows one of its rows next to it. */
const wide = matchMedia("(min-width: 1200px)");
export const isWide = signal(wide.matches);
wide.addEventListener("change", ({ matches }) => (isWide.value = matches));

/** Returns the ID of the row that is shown next to its list; empty if none is. */
export const peekedId = computed(() => (isWide.value ? (route.value.query.get("peek") ?? "") : ""));

/** Shows a row next to its list: Back closes it. */
export function peek(id: string): void {
  const { page, query } = route.value;
  const all = { ...Object.fromEntries(query), peek: id };
  go(hrefOf(page, "", all), { replace: peekedId.value !== "" });
}

/** Returns a function that opens a page of the rendered environment after a task, unless the user has left it. */
export function useGo(): (page: string, id?: string) => void {
  const { value: of } = environment;
  return (page, id) => {
    if (environment.value === of) go(hrefOf(page, id));
  };
}

/** Writes filters into the URL. Empty ones are omitted. */
export function filter(changes: Record<string, string>): void {
  const { page, id, query } = route.value;
  const all = Object.entries({ ...Object.fromEntries(query), ...changes }).filter(([, value]) => value !== "");
  go(hrefOf(page, id, Object.fromEntries(all)), { replace: true });
}

interface Position {
  scroll: number;
  /** The link that was followed. */
  link: string | null;
}

/** Returns the scroll position to restore after a page load: a reload, or Back from another page than the dashboard's. */
export function savedScroll(): number {
  return moves === 0 ? ((history.state as Position | null)?.scroll ?? 0) : 0;
}

function rememberPosition(): void {
  const link = document.activeElement?.getAttribute("href") ?? null;
  history.replaceState({ scroll: scrollY, link } satisfies Position, "");
}

/** Back returns to the previous scroll position, with the focus on the link that was followed. */
function restorePosition({ scroll, link }: Position): void {
  scrollTo(0, scroll);
  if (link === null) return;
  document.querySelector<HTMLElement>(`main a[href="${CSS.escape(link)}"]`)?.focus({ preventScroll: true });
}

const SCROLL_END_MILLISECONDS = 150;
let scrollEnd: ReturnType<typeof setTimeout> | undefined;

history.scrollRestoration = "manual";
addEventListener("scroll", () => {
  clearTimeout(scrollEnd);
  scrollEnd = setTimeout(() => {
    const before = history.state as Position | null;
    history.replaceState({ link: before?.link ?? null, scroll: scrollY } satisfies Position, "");
  }, SCROLL_END_MILLISECONDS);
});
addEventListener("popstate", ({ state }) => {
  clearTimeout(scrollEnd);
  moves += 1;
  isBack = true;
  address.value = readAddress();
  const position = state as Position | null;
  // The previous content is rendered from memory, within the next frame.
  requestAnimationFrame(() => requestAnimationFrame(() => position !== null && restorePosition(position)));
});

/** Navigates at a click without a modifier key; with one the browser opens the link as usual. */
export function followLink(event: MouseEvent, href: string, open = () => go(href)): void {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
  event.preventDefault();
  open();
}

/** True within a list whose rows are shown next to it. */
export const Peeking = createContext(false);

/** A link within the dashboard. */
export function Link(props: {
  href: string;
  class?: string;
  children: ComponentChildren;
  current?: boolean;
  label?: string;
  /** The object of a row: a first click or Enter shows it next to the list, a second one opens its page. */
  row?: string;
  /** The key that follows it. */
  shortcut?: string;
  /** True for a page that takes the place of the current one: Back returns to the page before it. */
  isStep?: boolean;
  title?: string;
}) {
  const { row } = props;
  const canPeek = useContext(Peeking) && isWide.value;
  const isPeeked = canPeek && row !== undefined && row === peekedId.value;
  const follow = (event: MouseEvent) => {
    const open = () => go(props.href, { replace: props.isStep === true });
    followLink(event, props.href, canPeek && row !== undefined && !isPeeked ? () => peek(row) : open);
  };
  return (
    <a
      href={props.href}
      class={props.class}
      onClick={follow}
      data-row-id={row}
      data-peeked={isPeeked || undefined}
      data-shortcut={props.shortcut}
      title={props.title}
      aria-current={props.current === true ? "page" : undefined}
      aria-label={props.label}
    >
      {props.children}
    </a>
  );
}
