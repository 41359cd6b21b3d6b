import { useEffect, useRef } from "preact/hooks";
import { kindOfId, timeOfId } from "../../../contract/ids.ts";
import { LIMITS } from "../../../contract/limits.ts";
import { OBJECT_KINDS } from "../../../contract/resources.ts";
import type { ListedEvent } from "../../../contract/schemas/event.ts";
import { formatTimestamp } from "../../../contract/timestamps.ts";
import { useCall } from "../../api/call.ts";
import { follow } from "../../api/live.ts";
import { eachPage } from "../../api/pages.ts";
import { dropOldest, useRedraw } from "../../api/store.ts";
import { environmentNow } from "../../clock.ts";
import { environment } from "../../router.tsx";
import type { SentEvent } from "../../../explain/unsent.ts";
import { referenceIn } from "../../api/objects.ts";
import { nameOf } from "./changes.ts";

type Call = ReturnType<typeof useCall>;

/** IDs of one search, which leaves room for others in the URL. */
const IDS_AT_ONCE = 50;
const MAX_PAGES = 10;
/** The newest events of an object that are counted. */
const EVENTS_PER_OBJECT = LIMITS.maxPageSize;
/** A search finds the events of this many newest objects of a kind that refer to those with the IDs. */
const REFERRING_AT_ONCE = 200;
/** Maximum number of names that are kept, so that Back shows them at once. */
const MAX_NAMES = 5000;

/** Returns the time just before the oldest of some IDs: a search need not go further back. A clock may be set back. */
export function timeBefore(ids: readonly string[]): string {
  return formatTimestamp(Math.min(environmentNow(), ...ids.map(timeOfId)) - 1000);
}

/** Some of the newest events about objects. */
export interface FoundEvents<Found extends SentEvent = SentEvent> {
  events: readonly Found[];
  /** False if there are older ones. */
  areAll: boolean;
}

/** Reads the newest events that contain any of some IDs, or are about what refers to them. */
export async function findEvents(
  call: Call,
  ids: readonly string[],
  max: number = EVENTS_PER_OBJECT,
): Promise<FoundEvents<ListedEvent>> {
  const events: ListedEvent[] = [];
  let areAll = false;
  const limit = Math.min(max, LIMITS.maxPageSize);
  // One ID alone would find only the events of its own object.
  const all = ids.length === 1 ? [...ids, ...ids] : ids;
  const query = { query: all.join(","), created_after: timeBefore(ids), limit };
  // Each page searches a part of the events.
  for await (const { data, next_cursor: next } of eachPage<ListedEvent>(call, "/v1/events", query, MAX_PAGES)) {
    events.push(...data);
    areAll = next === null && events.length <= max;
    if (events.length >= max) break;
  }
  return { events: events.slice(0, max), areAll };
}

/** Returns when the oldest object of each kind was created whose events a search has found, if it finds no more. */
function oldestReferring(events: readonly ListedEvent[]): number[] {
  const ids = new Set(events.flatMap(({ data }) => (data === null ? [] : [String(data.object["id"])])));
  return OBJECT_KINDS.flatMap((kind) => {
    const own = [...ids].filter((id) => kindOfId(id) === kind).toSorted();
    return own.length < REFERRING_AT_ONCE ? [] : [timeOfId(own.at(-REFERRING_AT_ONCE)!)];
  });
}

/** Runs a search for the IDs that were not searched for yet, and again if it failed. Each ID is in some events at most. */
function useSearch(
  ids: readonly string[],
  perId: number,
  onFound: (ids: readonly string[], found: FoundEvents<ListedEvent>) => void,
) {
  const call = useCall();
  const { current: asked } = useRef(new Set<string>());
  useEffect(() => {
    const missing = [...new Set(ids)].filter((id) => !asked.has(id));
    for (let start = 0; start < missing.length; start += IDS_AT_ONCE) {
      const some = missing.slice(start, start + IDS_AT_ONCE);
      for (const id of some) asked.add(id);
      findEvents(call, some, some.length * perId).then(
        (found) => onFound(some, found),
        // The next change of the list asks again.
        () => some.forEach((id) => asked.delete(id)),
      );
    }
  });
  return asked;
}

/** The events of objects: undefined until they are read. */
export type EventsOf = (id: string) => FoundEvents | undefined;

/** Finds the events of a list's objects, and of what refers to them, many in a request. */
export function useEventsOf(ids: readonly string[], onFound: (events: readonly string[]) => void): EventsOf {
  const draw = useRedraw();
  const { current: found } = useRef(new Map<string, SentEvent[]>());
  /** Since when all events of an object are known, if there may be older ones, in Unix milliseconds. */
  const { current: knownSince } = useRef(new Map<string, number>());
  // What refers to an object, such as an order, and so what refers to that in turn.
  const { current: owners } = useRef(new Map<string, string>());
  const add = (event: SentEvent) => {
    const object = event.data?.object ?? {};
    for (const value of new Set(Object.values(object))) {
      const owner = owners.get(value as string) ?? (value as string);
      const own = found.get(owner);
      if (own === undefined) continue;
      if (!own.some(({ id }) => id === event.id)) own.push(event);
      const { id } = object;
      if (typeof id === "string" && !found.has(id)) owners.set(id, owner);
    }
  };
  const show = () => {
    draw();
    const events = [...found.values()].flat().map(({ id }) => id);
    onFound([...new Set(events)].toSorted().toReversed());
  };
  const asked = useSearch(ids, EVENTS_PER_OBJECT, (some, { events, areAll }) => {
    const since = Math.max(areAll ? 0 : timeOfId(events.at(-1)?.id ?? ""), ...oldestReferring(events));
    for (const id of some) {
      found.set(id, []);
      knownSince.set(id, since);
    }
    // The oldest first: an order before its payments.
    for (const event of events.toReversed()) add(event);
    show();
  });
  useEffect(
    () =>
      follow({
        event(event) {
          const values = Object.values(event.data.object) as string[];
          if (!values.some((value) => found.has(value) || owners.has(value))) return;
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
  return (id) => {
    const own = found.get(id);
    const areAll = own !== undefined && own.length <= EVENTS_PER_OBJECT && timeOfId(id) >= knownSince.get(id)!;
    return own && { events: own.slice(-EVENTS_PER_OBJECT), areAll };
  };
}

/** What an event is about, for a line. */
export interface About {
  name: string;
  id: string;
  /** The ID of the object that it refers to. */
  reference: string | null;
}

export function aboutOf({ data }: Pick<ListedEvent, "data">): About | null {
  if (data === null) return null;
  const { id } = data.object;
  return { name: nameOf(data.object), id: typeof id === "string" ? id : "", reference: referenceIn(data.object) };
}

/** Of an event, what it is about; null if that is not known. An event never changes. */
const abouts = new Map<string, About | null>();
environment.subscribe(() => abouts.clear());

function keepAbout(event: Pick<ListedEvent, "id" | "data">): void {
  abouts.set(event.id, aboutOf(event));
  dropOldest(abouts, MAX_NAMES);
}

/** Finds what some events are about, many in a request; undefined until that is read. */
export function useAbout(events: readonly string[]): (event: string) => About | null | undefined {
  const draw = useRedraw();
  useEffect(() => follow({ event: keepAbout }), []);
  useSearch(
    events.filter((id) => !abouts.has(id)),
    1,
    (some, { events: found }) => {
      for (const event of found) keepAbout(event);
      // An event may have been removed.
      for (const id of some) if (!abouts.has(id)) abouts.set(id, null);
      draw();
    },
  );
  return (event) => abouts.get(event);
}
