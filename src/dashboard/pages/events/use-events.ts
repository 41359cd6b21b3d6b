import { useEffect, useRef, useState } from "preact/hooks";
import { matchesSubscriptions } from "../../../contract/event-types.ts";
import type { Event } from "../../../contract/schemas/event.ts";
import { asCallError, call, type CallError, withQuery } from "../../api/call.ts";
import { followEvents } from "../../api/live.ts";

const PAGE = 100;
const MOST = 10_000;
/** New events are shown together, a few times a second: a redraw for each would not keep up with a burst. */
const GATHER_MILLISECONDS = 200;

interface EventPage {
  data: Event[];
  next_cursor: string | null;
}

export interface ListedEvents {
  events: readonly Event[];
  /** Events that came while the list was held still. */
  held: number;
  isLoading: boolean;
  isComplete: boolean;
  error: CallError | undefined;
  loadMore: () => void;
  /** Holds new events back, so that what is being read does not move; then shows them. */
  hold: (isHeld: boolean) => void;
}

/** The list of one type as far as it is known. */
interface Listing {
  events: Event[];
  /** What happened since the list was last shown, oldest first. */
  fresh: Event[];
  /** Of all in `events` and `fresh`. */
  ids: Set<string>;
  /** Undefined before the first page, null behind the last one. */
  cursor: string | null | undefined;
  isHeld: boolean;
  isLoading: boolean;
}

function emptyListing(): Listing {
  return { events: [], fresh: [], ids: new Set(), cursor: undefined, isHeld: false, isLoading: false };
}

/** Events of a type, newest first: pages of the API and what happens from now on. */
export function useEvents(type: string): ListedEvents {
  const [shown, setShown] = useState<{ events: Event[]; held: number }>({ events: [], held: 0 });
  const [status, setStatus] = useState<{ isLoading: boolean; isComplete: boolean; error?: CallError }>({
    isLoading: true,
    isComplete: false,
  });
  const listing = useRef(emptyListing());

  const show = () => {
    const { events, fresh } = listing.current;
    setShown({ events, held: fresh.length });
  };
  const takeFresh = () => {
    const { current } = listing;
    if (current.fresh.length === 0) return;
    if (!current.isHeld) {
      current.events = [...current.fresh.reverse(), ...current.events];
      forget(current, current.events.splice(MOST));
      current.fresh = [];
    }
    show();
  };
  const load = async () => {
    const { current } = listing;
    if (current.isLoading || current.cursor === null || current.events.length >= MOST) return;
    current.isLoading = true;
    setStatus({ isLoading: true, isComplete: false });
    try {
      const query = { limit: PAGE, type, cursor: current.cursor };
      const page = await call<EventPage>("GET", withQuery("/v1/events", query));
      if (listing.current !== current) return;
      const added = page.data.filter(({ id }) => !current.ids.has(id));
      for (const { id } of added) current.ids.add(id);
      // What came meanwhile may be among those of the page: the ids tell the order.
      current.events = [...current.events, ...added].sort((a, b) => (a.id < b.id ? 1 : -1));
      current.cursor = page.next_cursor;
      setStatus({ isLoading: false, isComplete: page.next_cursor === null || current.events.length >= MOST });
      show();
    } catch (error) {
      if (listing.current === current) setStatus({ isLoading: false, isComplete: false, error: asCallError(error) });
    } finally {
      current.isLoading = false;
    }
  };

  useEffect(() => {
    listing.current = emptyListing();
    show();
    void load();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = followEvents({
      event(event, isReplay) {
        const { current } = listing;
        if (isReplay || current.ids.has(event.id)) return;
        if (type !== "" && !matchesSubscriptions([type], event.type)) return;
        current.ids.add(event.id);
        current.fresh.push(event);
        if (current.fresh.length > MOST) forget(current, current.fresh.splice(0, 1));
        timer ??= setTimeout(() => {
          timer = undefined;
          takeFresh();
        }, GATHER_MILLISECONDS);
      },
      missed() {
        listing.current = { ...emptyListing(), isHeld: listing.current.isHeld };
        void load();
      },
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [type]);

  return {
    ...shown,
    isLoading: status.isLoading,
    isComplete: status.isComplete,
    error: status.error,
    loadMore: () => void load(),
    hold: (isHeld) => {
      listing.current.isHeld = isHeld;
      if (!isHeld) takeFresh();
    },
  };
}

/** A page that stays open for days must not grow: what fell out of the list is not remembered either. */
function forget({ ids }: Listing, events: readonly Event[]): void {
  for (const { id } of events) ids.delete(id);
}
