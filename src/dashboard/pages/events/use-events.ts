import { useEffect, useMemo } from "preact/hooks";
import type { Environment } from "../../../contract/environments.ts";
import { matchesSubscriptions } from "../../../contract/event-types.ts";
import type { ListedEvent } from "../../../contract/schemas/event.ts";
import { asCallError, call, type CallError, withQuery } from "../../api/call.ts";
import { follow } from "../../api/live.ts";
import type { Pages } from "../../api/pages.ts";
import { useRedraw } from "../../api/store.ts";
import { environment, hasGoneBack } from "../../router.tsx";

const PAGE = 100;
const MAX_EVENTS = 10_000;
/** Maximum number of lists that stay current while another page is shown, so that Back shows them as they were. */
const MAX_LISTINGS = 2;
/** New events are shown together, a few times a second: rendering each would not keep up with a burst. */
const GATHER_MILLISECONDS = 200;
const RETRY_MILLISECONDS = 2000;

interface EventPage {
  data: ListedEvent[];
  next_cursor: string | null;
}

/** Filters of the list, as the API takes them; empty ones are omitted. */
export interface EventFilters {
  type: string;
  query: string;
  created_after: string;
  created_before: string;
}

type Shared = "pendingCount" | "isLoading" | "error" | "pagesRead" | "loadMore" | "hold";

export interface ListedEvents extends Pick<Pages<ListedEvent>, Shared> {
  events: readonly ListedEvent[];
  isComplete: boolean;
  /** Shows the events that were held. */
  show: () => void;
}

/** A list of which nothing was read. */
const nothing = () => ({
  pagesRead: 0,
  events: [] as ListedEvent[],
  /** Events since the list was last shown, oldest first. */
  fresh: [] as ListedEvent[],
  /** IDs of everything in `events` and `fresh`. */
  ids: new Set<string>(),
  /** Undefined before the first page, null after the last one. */
  cursor: undefined as string | null | undefined,
  isLoading: false,
});

/** The loaded part of the list with some filters. */
interface Listing extends ReturnType<typeof nothing> {
  environment: Environment;
  filters: EventFilters;
  isHeld: boolean;
  error: CallError | undefined;
  timer: ReturnType<typeof setTimeout> | undefined;
  retry: ReturnType<typeof setTimeout> | undefined;
  draw: (() => void) | undefined;
  stop: () => void;
}

const listings = new Map<string, Listing>();
environment.subscribe(() => {
  for (const { stop } of listings.values()) stop();
  listings.clear();
});

/** Creates a list, which follows the stream until it is dropped. */
function begin(key: string, filters: EventFilters, isMatch: (event: ListedEvent) => boolean): Listing {
  const { type, created_before: before } = filters;
  const listing: Listing = {
    ...nothing(),
    environment: environment.value,
    filters,
    isHeld: false,
    error: undefined,
    timer: undefined,
    retry: undefined,
    draw: undefined,
    stop: () => {},
  };
  const stop = follow({
    event(event, isReplay) {
      if (isReplay || listing.ids.has(event.id)) return;
      if (type !== "" && !matchesSubscriptions([type], event.type)) return;
      if ((before !== "" && event.created >= before) || !isMatch(event)) return;
      listing.ids.add(event.id);
      listing.fresh.push(event);
      if (listing.fresh.length > MAX_EVENTS) forget(listing, listing.fresh.splice(0, 1));
      listing.timer ??= setTimeout(() => {
        listing.timer = undefined;
        if (!listing.isHeld) takeFresh(listing);
        listing.draw?.();
      }, GATHER_MILLISECONDS);
    },
    connected() {
      if (listing.error !== undefined) void load(listing);
    },
    missed() {
      Object.assign(listing, nothing());
      void load(listing);
    },
  });
  listing.stop = () => {
    clearTimeout(listing.timer);
    clearTimeout(listing.retry);
    stop();
  };
  listings.get(key)?.stop();
  listings.delete(key);
  listings.set(key, listing);
  for (const [old, { stop: end }] of listings) {
    if (listings.size <= MAX_LISTINGS) break;
    end();
    listings.delete(old);
  }
  void load(listing);
  return listing;
}

function takeFresh(listing: Listing): void {
  listing.events = [...listing.fresh.toReversed(), ...listing.events];
  forget(listing, listing.events.splice(MAX_EVENTS));
  listing.fresh = [];
}

async function load(listing: Listing): Promise<void> {
  const { environment: of, cursor, ids } = listing;
  if (listing.isLoading || cursor === null || listing.events.length >= MAX_EVENTS) return;
  clearTimeout(listing.retry);
  listing.isLoading = true;
  listing.draw?.();
  try {
    const page = await call<EventPage>(of, "GET", withQuery("/v1/events", { limit: PAGE, ...listing.filters, cursor }));
    // The list may have been restarted meanwhile.
    if (listing.ids !== ids) return;
    const added = page.data.filter(({ id }) => !ids.has(id));
    for (const { id } of added) ids.add(id);
    // Events that arrived meanwhile may be on the page as well. Their IDs determine the order.
    listing.events = [...listing.events, ...added].sort((a, b) => (a.id < b.id ? 1 : -1));
    listing.cursor = page.next_cursor;
    listing.error = undefined;
    listing.pagesRead += 1;
  } catch (error) {
    if (listing.ids !== ids) return;
    listing.error = asCallError(error);
    // A request may fail although the stream is open. A rejected one would be rejected again.
    if (listing.error.status === 0 || listing.error.status >= 500) {
      listing.retry = setTimeout(() => void load(listing), RETRY_MILLISECONDS);
    }
  }
  listing.isLoading = false;
  listing.draw?.();
}

/** Events, newest first: pages of the API, then new ones that match. */
export function useEvents(filters: EventFilters, isMatch: (event: ListedEvent) => boolean): ListedEvents {
  const draw = useRedraw();
  const key = JSON.stringify(filters);
  const listing = useMemo(() => {
    const known = hasGoneBack() ? listings.get(key) : undefined;
    return known ?? begin(key, filters, isMatch);
  }, [key]);
  useEffect(() => {
    listing.draw = draw;
    draw();
    return () => {
      listing.draw = undefined;
      listing.isHeld = true;
    };
  }, [listing]);
  const { events, fresh, cursor, isLoading, error } = listing;
  return {
    events,
    pendingCount: listing.isHeld ? fresh.length : 0,
    isLoading,
    isComplete: cursor === null || events.length >= MAX_EVENTS,
    error,
    pagesRead: listing.pagesRead,
    loadMore: () => void load(listing),
    hold: (isHeld) => {
      listing.isHeld = isHeld;
      if (isHeld || listing.fresh.length === 0) return;
      takeFresh(listing);
      draw();
    },
    show: () => {
      takeFresh(listing);
      draw();
    },
  };
}

/** A page that stays open for days must not grow, so IDs that left the list are removed here too. */
function forget({ ids }: Listing, events: readonly ListedEvent[]): void {
  for (const { id } of events) ids.delete(id);
}
