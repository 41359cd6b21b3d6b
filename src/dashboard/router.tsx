import { computed, signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import type { Environment } from "../contract/environments.ts";

const BASE = "/dashboard";

/** What the address names: `/dashboard/<environment>/<page>/<id>?<query>`. */
export interface Place {
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

export const place = computed<Place>(() => {
  const { pathname, searchParams: query } = new URL(address.value, location.origin);
  const [environment = "", page = "", id = ""] = pathname.slice(BASE.length + 1).split("/");
  return { environment: environment === "live" ? "live" : "sandbox", page, id: decoded(id), query };
});

/** An address may be typed by hand: what cannot be decoded is an id that no object has. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export const environment = computed(() => place.value.environment);

/** The address of a page in the environment that is shown, unless another is named. */
export function hrefOf(page: string, id = "", query: Record<string, string> = {}, of: Environment = environment.value) {
  const path = [BASE, of, page, encodeURIComponent(id)].join("/").replace(/\/+$/, "");
  const search = new URLSearchParams(query).toString();
  return search === "" ? path : `${path}?${search}`;
}

/** Writes an address over the one that was asked for; the page is the same. */
export function settle(href: string): void {
  history.replaceState(null, "", href);
  address.value = readAddress();
}

let moves = 0;

/** True once the person went from one page to another: the first page leaves the focus where the browser put it. */
export function hasMoved(): boolean {
  return moves > 0;
}

/** Goes to an address of the dashboard without loading it anew. */
export function go(href: string, { replace = false } = {}): void {
  if (replace) history.replaceState(null, "", href);
  else history.pushState(null, "", href);
  const before = place.value;
  moves += 1;
  address.value = readAddress();
  if (before.page !== place.value.page || before.id !== place.value.id) scrollTo(0, 0);
}

addEventListener("popstate", () => {
  moves += 1;
  address.value = readAddress();
});

/** A link within the dashboard; with a modifier key the browser opens it as it opens any link. */
export function Link(props: {
  href: string;
  class?: string;
  children: ComponentChildren;
  current?: boolean;
  label?: string;
}) {
  const follow = (event: MouseEvent) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    go(props.href);
  };
  return (
    <a
      href={props.href}
      class={props.class}
      onClick={follow}
      aria-current={props.current === true ? "page" : undefined}
      aria-label={props.label}
    >
      {props.children}
    </a>
  );
}
