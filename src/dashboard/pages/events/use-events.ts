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

/** Events of a type, newest first: pages of the API and what happens from now on. */
export function useEvents(type: string): ListedEvents {
  const [shown, setShown] = useState<{ events: Event[]; held: number }>({ events: [], held: 0 });
  const [status, setStatus] = useState<{ isLoading: boolean; isComplete: boolean; error?: CallError }>({
    isLoading: true,
    isComplete: false,
  });
  const work = useRef({
    events: [] as Event[],
    fresh: [] as Event[],
    ids: new Set<string>(),
    cursor: "",
    isHeld: false,
    isLoading: false,
  });

  const show = () => {
    const { events, fresh } = work.current;
    setShown({ events, held: fresh.length });
  };
  const takeFresh = () => {
    const { current } = work;
    if (current.fresh.length === 0) return;
    if (!current.isHeld) {
      current.events = [...current.fresh.reverse(), ...current.events].slice(0, MOST);
      current.fresh = [];
    }
    show();
  };
  const load = async (isFirst: boolean) => {
    const { current } = work;
    if (current.isLoading || (!isFirst && current.cursor === "") || current.events.length >= MOST) return;
    current.isLoading = true;
    setStatus({ isLoading: true, isComplete: false });
    try {
      const query = { limit: PAGE, type: type || undefined, cursor: current.cursor || undefined };
      const page = await call<EventPage>("GET", withQuery("/v1/events", query));
      if (work.current !== current) return;
      const added = page.data.filter(({ id }) => !current.ids.has(id));
      for (const { id } of added) current.ids.add(id);
      current.events = [...current.events, ...added];
      current.cursor = page.next_cursor ?? "";
      setStatus({ isLoading: false, isComplete: page.next_cursor === null || current.events.length >= MOST });
      show();
    } catch (error) {
      if (work.current === current) setStatus({ isLoading: false, isComplete: false, error: asCallError(error) });
    } finally {
      current.isLoading = false;
    }
  };

  useEffect(() => {
    work.current = { events: [], fresh: [], ids: new Set(), cursor: "", isHeld: false, isLoading: false };
    void load(true);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = followEvents((event, isReplay) => {
      const { current } = work;
      if (isReplay || current.ids.has(event.id)) return;
      if (type !== "" && !matchesSubscriptions([type], event.type)) return;
      current.ids.add(event.id);
      current.fresh.push(event);
      timer ??= setTimeout(() => {
        timer = undefined;
        takeFresh();
      }, GATHER_MILLISECONDS);
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
    loadMore: () => void load(false),
    hold: (isHeld) => {
      work.current.isHeld = isHeld;
      if (!isHeld) takeFresh();
    },
  };
}
