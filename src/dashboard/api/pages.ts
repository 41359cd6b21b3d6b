import { useMemo } from "preact/hooks";
import { environment, hasGoneBack } from "../router.tsx";
import { asCallError, type CallError, useCall, withQuery } from "./call.ts";
import { dropOldest, useQuery, useRedraw } from "./store.ts";

interface ListResponse<Item> {
  data: Item[];
  has_more: boolean;
  next_cursor: string | null;
}

/** Reads a list page by page. The last page has no cursor, unless there are more than `max` pages. */
export async function* eachPage<Item>(
  call: ReturnType<typeof useCall>,
  path: string,
  query: Record<string, string | number | undefined>,
  max: number,
): AsyncGenerator<ListResponse<Item>> {
  let cursor: string | null | undefined;
  for (let count = 0; count < max && cursor !== null; count++) {
    const page = await call<ListResponse<Item>>("GET", withQuery(path, { ...query, cursor }));
    yield page;
    cursor = page.next_cursor;
  }
}

/** The loaded part of a list. */
export interface Pages<Item> {
  items: Item[] | undefined;
  /** New items that are not shown yet, so that the rows on screen do not move. */
  pendingCount: number;
  error: CallError | undefined;
  /** Returns true for an item that has left the list, and keeps its place while the list is held. */
  isGone: (item: Item) => boolean;
  hasMore: boolean;
  isLoading: boolean;
  /** Number of pages that were read. */
  pagesRead: number;
  loadMore: () => void;
  reload: () => void;
  /** While the list is held, its rows keep their places. */
  hold: (isHeld: boolean) => void;
  /** Shows the newest items, and drops other loaded pages. */
  startOver: () => void;
}

/** The maximum limit, for lists that are always returned whole. */
export const WHOLE = 0;

/** A user who changes something sees the result within this time, also in a list that is held. */
const RESULT_MILLISECONDS = 3000;
/** Maximum number of lists whose pages are kept, so that Back shows them again. */
const MAX_LISTINGS = 20;

interface Listing<Item> {
  items: Item[];
  /** The newest page that was merged, and the one that is not shown yet. */
  merged: ListResponse<Item> | undefined;
  waiting: ListResponse<Item> | undefined;
  /** The cursors of the pages after the first; the last one leads to the next page. */
  cursors: string[];
  /** After the last page; undefined before the first. */
  next: string | null | undefined;
  isHeld: boolean;
  /** Until when the list is not held. */
  freeUntil: number;
  isLoading: boolean;
  error: CallError | undefined;
}

const listings = new Map<string, Listing<never>>();
environment.subscribe(() => listings.clear());

function listingOf<Item>(key: string): Listing<Item> {
  const listing = (listings.get(key) as Listing<Item> | undefined) ?? {
    items: [],
    merged: undefined,
    waiting: undefined,
    cursors: [],
    next: undefined,
    isHeld: false,
    freeUntil: 0,
    isLoading: false,
    error: undefined,
  };
  listings.delete(key);
  listings.set(key, listing as Listing<never>);
  dropOldest(listings, MAX_LISTINGS);
  return listing;
}

/** Reads a list page by page, newest first; `undefined` reads nothing. */
export function usePages<Item extends { id: string }>(
  path: string | undefined,
  query: Record<string, string | undefined> = {},
  { limit = 50 }: { limit?: number } = {},
): Pages<Item> {
  const call = useCall();
  const redraw = useRedraw();
  const first = path && withQuery(path, { ...query, limit: limit === WHOLE ? undefined : limit });
  const newest = useQuery<ListResponse<Item>>(first);
  const key = `${environment.value} ${first}`;
  useMemo(() => {
    // A link shows the newest items; Back restores the previous ones.
    if (!hasGoneBack()) listings.delete(key);
  }, [key]);
  const listing = listingOf<Item>(key);
  if (newest.data !== undefined && newest.data !== listing.merged) take(listing, newest.data);

  const loadMore = async () => {
    const { next } = listing;
    if (path === undefined || listing.isLoading || next === null || next === undefined) return;
    listing.isLoading = true;
    listing.error = undefined;
    redraw();
    try {
      const page = await call<ListResponse<Item>>("GET", withQuery(path, { ...query, limit, cursor: next }));
      // The list may have been restarted meanwhile.
      if (listing.next === next) {
        const known = new Set(listing.items.map(({ id }) => id));
        listing.items = [...listing.items, ...page.data.filter(({ id }) => !known.has(id))];
        listing.cursors.push(next);
        listing.next = page.next_cursor;
      }
    } catch (error) {
      listing.error = asCallError(error);
    }
    listing.isLoading = false;
    redraw();
  };
  return {
    items: listing.merged && listing.items,
    pendingCount: listing.waiting === undefined ? 0 : freshIn(listing, listing.waiting).length,
    error: newest.error ?? listing.error,
    isGone: ({ id }) => {
      const { waiting } = listing;
      if (waiting === undefined || (waiting.has_more && id < (waiting.data.at(-1)?.id ?? ""))) return false;
      return !waiting.data.some((item) => item.id === id);
    },
    hasMore: listing.next !== null && listing.next !== undefined,
    isLoading: listing.isLoading,
    pagesRead: listing.cursors.length + 1,
    loadMore: () => void loadMore(),
    reload: () => {
      listing.freeUntil = Date.now() + RESULT_MILLISECONDS;
      newest.reload();
    },
    hold: (isHeld) => {
      listing.isHeld = isHeld;
      if (!isHeld && listing.waiting !== undefined && meets(listing, listing.waiting)) {
        merge(listing, listing.waiting);
        redraw();
      }
    },
    startOver: () => {
      const newestPage = listing.waiting ?? listing.merged;
      if (newestPage !== undefined) beginWith(listing, newestPage);
      redraw();
    },
  };
}

/** Returns a list that is known as a whole. */
export function wholeList<Item>(items: readonly Item[]): Pages<Item> {
  const nothing = () => {};
  return {
    items: [...items],
    pendingCount: 0,
    error: undefined,
    isGone: () => false,
    hasMore: false,
    isLoading: false,
    pagesRead: 1,
    loadMore: nothing,
    reload: nothing,
    hold: nothing,
    startOver: nothing,
  };
}

/** Shows the newest page: at once, or once the user has left the list. */
function take<Item extends { id: string }>(listing: Listing<Item>, page: ListResponse<Item>): void {
  const isHeld = listing.isHeld && Date.now() > listing.freeUntil;
  if (listing.merged === undefined) beginWith(listing, page);
  else if (!isHeld && (freshIn(listing, page).length === 0 || meets(listing, page))) merge(listing, page);
  else if (isHeld || listing.cursors.length > 0) {
    // Changes to visible items are shown at once.
    update(listing, page);
    listing.merged = page;
    listing.waiting = page;
  } else beginWith(listing, page);
}

function beginWith<Item>(listing: Listing<Item>, page: ListResponse<Item>): void {
  const restarted = { items: page.data, merged: page, waiting: undefined, cursors: [], next: page.next_cursor };
  Object.assign(listing, restarted);
}

/** Returns the items of the newest page that the list does not show. */
function freshIn<Item extends { id: string }>({ items }: Listing<Item>, { data }: ListResponse<Item>): Item[] {
  const known = new Set(items.map(({ id }) => id));
  return data.filter(({ id }) => !known.has(id));
}

/** Returns true if nothing can be missing between the newest page and the loaded ones. */
function meets<Item extends { id: string }>(listing: Listing<Item>, { data, has_more: hasMore }: ListResponse<Item>) {
  const known = new Set(listing.items.map(({ id }) => id));
  return !hasMore || listing.items.length === 0 || data.some(({ id }) => known.has(id));
}

function update<Item extends { id: string }>(listing: Listing<Item>, { data }: ListResponse<Item>): void {
  const current = new Map(data.map((item) => [item.id, item]));
  listing.items = listing.items.map((item) => current.get(item.id) ?? item);
}

/** Puts the newest page before the loaded ones. Items that the page lacks within its range were removed. */
function merge<Item extends { id: string }>(listing: Listing<Item>, page: ListResponse<Item>): void {
  listing.merged = page;
  listing.waiting = undefined;
  if (!page.has_more || listing.cursors.length === 0) {
    Object.assign(listing, { items: page.data, cursors: [], next: page.next_cursor });
    return;
  }
  const last = page.data.at(-1)?.id;
  // A search may have found nothing on its first page.
  if (last === undefined) return;
  listing.items = [...page.data, ...listing.items.filter(({ id }) => id < last)];
}
