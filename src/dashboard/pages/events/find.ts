import { useEffect, useRef } from "preact/hooks";
import { timeOfId } from "../../../contract/ids.ts";
import { LIMITS } from "../../../contract/limits.ts";
import type { ListedEvent } from "../../../contract/schemas/event.ts";
import { formatTimestamp } from "../../../contract/timestamps.ts";
import { useCall } from "../../api/call.ts";
import { follow } from "../../api/live.ts";
import { eachPage } from "../../api/pages.ts";
import { dropOldest, useRedraw } from "../../api/store.ts";
import { environmentNow } from "../../clock.ts";
import { environment } from "../../router.tsx";
import type { SentEvent } from "../../../explain/unsent.ts";
import { nameOf } from "./changes.ts";

type Call = ReturnType<typeof useCall>;

/** IDs of one search, which leaves room for others in the URL. */
const IDS_AT_ONCE = 50;
const MAX_PAGES = 5;
const EVENTS_PER_OBJECT = 10;
/** Maximum number of names that are kept, so that Back shows them at once. */
const MAX_NAMES = 5000;

/** Returns the time just before the oldest of some IDs: a search need not go further back. A clock may be set back. */
export function timeBefore(ids: readonly string[]): string {
  return formatTimestamp(Math.min(environmentNow(), ...ids.map(timeOfId)) - 1000);
}

/** Reads the newest events that contain any of some IDs. */
export async function findEvents(
  call: Call,
  ids: readonly string[],
  max: number = LIMITS.maxPageSize,
): Promise<ListedEvent[]> {
  const events: ListedEvent[] = [];
  const limit = Math.min(max, LIMITS.maxPageSize);
  const query = { query: ids.join(","), created_after: timeBefore(ids), limit };
  // Each page searches a part of the events.
  for await (const { data } of eachPage<ListedEvent>(call, "/v1/events", query, MAX_PAGES)) {
    events.push(...data);
    if (events.length >= max) break;
  }
  return events.slice(0, max);
}

/** Runs a search for the IDs that were not searched for yet, and again if it failed. Each ID is in some events at most. */
function useSearch(
  ids: readonly string[],
  perId: number,
  onFound: (ids: readonly string[], events: readonly ListedEvent[]) => void,
) {
  const call = useCall();
  const { current: asked } = useRef(new Set<string>());
  useEffect(() => {
    const missing = [...new Set(ids)].filter((id) => !asked.has(id));
    for (let start = 0; start < missing.length; start += IDS_AT_ONCE) {
      const some = missing.slice(start, start + IDS_AT_ONCE);
      for (const id of some) asked.add(id);
      findEvents(call, some, some.length * perId).then(
        (events) => onFound(some, events),
        // The next change of the list asks again.
        () => some.forEach((id) => asked.delete(id)),
      );
    }
  });
  return asked;
}

/** The events of objects: undefined until they are read. */
export type EventsOf = (id: string) => readonly SentEvent[] | undefined;

/** Finds the events of a list's objects, and of what refers to them, many in a request. */
export function useEventsOf(ids: readonly string[], onFound: (events: readonly string[]) => void): EventsOf {
  const draw = useRedraw();
  const { current: found } = useRef(new Map<string, SentEvent[]>());
  const add = (event: SentEvent) => {
    for (const value of new Set(Object.values(event.data?.object ?? {}))) {
      const own = found.get(value as string);
      if (own !== undefined && !own.some(({ id }) => id === event.id)) own.push(event);
    }
  };
  const show = () => {
    draw();
    const events = [...found.values()].flat().map(({ id }) => id);
    onFound([...new Set(events)].toSorted().toReversed());
  };
  const asked = useSearch(ids, EVENTS_PER_OBJECT, (some, events) => {
    for (const id of some) found.set(id, []);
    for (const event of events) add(event);
    show();
  });
  useEffect(
    () =>
      follow({
        event(event) {
          if (!Object.values(event.data.object).some((value) => found.has(value as string))) return;
          add(event);
          show();
        },
        missed() {
          asked.clear();
          draw();
        },
      }),
    [],
  );
  return (id) => found.get(id);
}

/** Of an event, the name of its object. An event never changes. */
const names = new Map<string, string>();
environment.subscribe(() => names.clear());

function keepName({ id, data }: Pick<ListedEvent, "id" | "data">): void {
  names.set(id, data === null ? "" : nameOf(data.object));
  dropOldest(names, MAX_NAMES);
}

/** Finds the names of the objects of some events, many in a request. */
export function useObjectNames(events: readonly string[]): (event: string) => string | undefined {
  const draw = useRedraw();
  useEffect(() => follow({ event: keepName }), []);
  useSearch(
    events.filter((id) => !names.has(id)),
    1,
    (some, found) => {
      for (const event of found) keepName(event);
      // An event may have been removed.
      for (const id of some) if (!names.has(id)) names.set(id, "");
      draw();
    },
  );
  return (event) => names.get(event);
}
