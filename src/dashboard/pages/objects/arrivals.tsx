import { useEffect, useState } from "preact/hooks";
import { LIMITS } from "../../../contract/limits.ts";
import {
  type Field,
  nounOf,
  nounsOf,
  OBJECT_KINDS,
  type ObjectKind,
  pathOf,
  resourceOf,
} from "../../../contract/resources.ts";
import type { ListedEvent } from "../../../contract/schemas/event.ts";
import { useCall, withQuery } from "../../api/call.ts";
import type { Item } from "../../api/objects.ts";
import { follow } from "../../api/live.ts";
import { count, counted } from "../../format.ts";
import { hrefOf, Link } from "../../router.tsx";
import { outcomeOf, useOutcomes } from "../events/outcomes.tsx";

/** The newest objects that refer to the object, whose events are found by their IDs: so are those of what refers to them. */
const MAX_OBJECTS = 20;
const MAX_PAGES = 5;
/** While events happen, they are read this often. */
const PAUSE_MILLISECONDS = 3000;

/** Returns the kinds of objects that refer to one of this kind, and their fields that do. */
export function referringKinds(kind: ObjectKind): (readonly [kind: ObjectKind, field: string])[] {
  return OBJECT_KINDS.flatMap((other) =>
    Object.entries<Field>(resourceOf(other).fields ?? {}).flatMap(([name, { of, filter }]) =>
      of === kind && filter === true ? [[other, name] as const] : [],
    ),
  );
}

/** The newest events about an object and what refers to it, such as a customer's orders and their payments. */
export interface AboutObject {
  events: readonly string[] | undefined;
  /** The events of an object, and of what refers to it. */
  eventsOf: (id: string) => readonly string[];
}

/** Reads the events about an object, and keeps their outcomes current. */
export function useEventsAbout(kind: ObjectKind, id: string | undefined): AboutObject {
  const call = useCall();
  const [found, setFound] = useState<readonly ListedEvent[]>();
  const readOutcomes = useOutcomes();
  useEffect(() => {
    if (id === undefined) return undefined;
    let isCurrent = true;
    const read = async () => {
      const lists = await Promise.all(
        referringKinds(kind).map(([other, field]) =>
          call<{ data: Item[] }>("GET", withQuery(pathOf(other), { [field]: id, limit: MAX_OBJECTS })),
        ),
      );
      const ids = [id, ...lists.flatMap(({ data }) => data.map((item) => item.id))];
      const events: ListedEvent[] = [];
      let cursor: string | null | undefined;
      // Each page searches a part of the events.
      for (let page = 0; page < MAX_PAGES && cursor !== null && events.length < LIMITS.maxPageSize; page++) {
        const query = { query: ids.join(","), limit: LIMITS.maxPageSize, cursor };
        const found = await call<{ data: ListedEvent[]; next_cursor: string | null }>(
          "GET",
          withQuery("/v1/events", query),
        );
        events.push(...found.data);
        cursor = found.next_cursor;
      }
      if (isCurrent) setFound(events.slice(0, LIMITS.maxPageSize));
    };
    const readNow = () => {
      timer = undefined;
      read().catch(() => {});
    };
    let timer: ReturnType<typeof setTimeout> | undefined;
    const readSoon = () => (timer ??= setTimeout(readNow, PAUSE_MILLISECONDS));
    readNow();
    const stop = follow({ event: readSoon, missed: readSoon });
    return () => {
      isCurrent = false;
      clearTimeout(timer);
      stop();
    };
  }, [id]);
  const events = found?.map((event) => event.id);
  useEffect(() => readOutcomes(events ?? []), [found]);
  return {
    events,
    eventsOf: (object) =>
      (found ?? []).filter(({ data }) => Object.values(data?.object ?? {}).includes(object)).map((event) => event.id),
  };
}

/** Whether everything about an object arrived, in a sentence. */
export function Arrivals({ kind, id, about: { events } }: { kind: ObjectKind; id: string; about: AboutObject }) {
  const outcome = events && outcomeOf(events);
  if (events === undefined || outcome === undefined) return <div class="answer unknown" />;
  const total = [...outcome.values()].reduce((sum, number) => sum + number, 0);
  const missing = total - (outcome.get("delivered") ?? 0);
  const failed = events.filter((event) => {
    const own = outcomeOf([event]);
    return own !== undefined && [...own].some(([state, number]) => state !== "delivered" && number > 0);
  });
  const noun = nounOf(kind);
  const referring = referringKinds(kind).map(([other]) => other);
  const others = referring.map(nounsOf);
  const further = referring.flatMap((other) => referringKinds(other).map(([one]) => nounsOf(one)));
  return (
    <section class={missing > 0 ? "answer bad" : "answer"} aria-label="Webhooks">
      <p>
        {total === 0
          ? `No webhook about this ${noun} was sent.`
          : missing === 0
            ? total === 1
              ? `The delivery about this ${noun} arrived.`
              : `All ${count(total)} deliveries about this ${noun} arrived.`
            : `${count(missing)} of ${counted(total, "delivery", "deliveries")} about this ${noun} have not arrived.`}
      </p>
      <p class="evidence">
        Counted over {counted(events.length, "event")}: of the {[noun, ...others].join(", its ")}
        {further.length > 0 && ` and their ${further.join(" and ")}`}.{" "}
        {failed[0] === undefined ? (
          <Link href={hrefOf("why", id)}>Explain</Link>
        ) : (
          <>
            <Link href={hrefOf("why", failed[0])}>Explain the newest failure</Link>, or{" "}
            <Link href={hrefOf("deliveries", "", { query: failed.join(",") })}>show the deliveries</Link>
            {failed.length < events.length && ` of the ${counted(failed.length, "event")} concerned`}.
          </>
        )}
      </p>
    </section>
  );
}
