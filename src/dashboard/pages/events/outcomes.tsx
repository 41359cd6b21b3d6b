import { useEffect, useRef } from "preact/hooks";
import { LIMITS } from "../../../contract/limits.ts";
import type { Delivery } from "../../../contract/schemas/delivery.ts";
import type { WebhookEndpoint } from "../../../contract/schemas/webhook-endpoint.ts";
import { decisiveDeliveries, type ReceiverState, STATES, statesOf, tallyOf } from "../../../explain/states.ts";
import { notSentTo, type SentEvent } from "../../../explain/unsent.ts";
import { useCall } from "../../api/call.ts";
import { follow } from "../../api/live.ts";
import { eachPage } from "../../api/pages.ts";
import { dropOldest, useRedraw } from "../../api/store.ts";
import { None, Unknown } from "../../components/values.tsx";
import { count } from "../../format.ts";
import { environment } from "../../router.tsx";
import { type FoundEvents, timeBefore } from "./find.ts";

/** The delivery of an event that counts for each of its receivers. */
type Outcome = readonly Delivery[];

/** While deliveries change, outcomes are read at most this often. */
const PAUSE_MILLISECONDS = 1000;
/** The deliveries of this many events are read together. */
const EVENTS_AT_ONCE = 50;
/** With more deliveries than fit on these pages, no outcomes are shown. */
const MAX_PAGES = 20;
/** Maximum number of outcomes that are kept, so that scrolling back shows them at once. */
const MAX_OUTCOMES = 5000;

const outcomes = new Map<string, Outcome>();
environment.subscribe(() => outcomes.clear());

async function readOutcomes(call: ReturnType<typeof useCall>, events: readonly string[]): Promise<void> {
  const found = new Map(events.map((id) => [id, [] as Delivery[]]));
  const query = { query: events.join(","), created_after: timeBefore(events), limit: LIMITS.maxPageSize };
  let areAll = false;
  for await (const { data, next_cursor: next } of eachPage<Delivery>(call, "/v1/deliveries", query, MAX_PAGES)) {
    for (const delivery of data) found.get(delivery.event)?.push(delivery);
    areAll = next === null;
  }
  if (!areAll) return;
  for (const [id, deliveries] of found) {
    outcomes.delete(id);
    outcomes.set(id, decisiveDeliveries(deliveries));
  }
  dropOldest(outcomes, MAX_OUTCOMES);
}

/**
 * Returns a function that reads the outcomes of some events, now and whenever deliveries change: beyond one page of
 * events, of those that may still change.
 */
export function useOutcomes(): (events: readonly string[]) => void {
  const call = useCall();
  const draw = useRedraw();
  const { current: state } = useRef({
    events: [] as readonly string[],
    readAt: -Infinity,
    timer: undefined as ReturnType<typeof setTimeout> | undefined,
  });
  const readAll = async () => {
    const [first, rest] = [state.events.slice(0, LIMITS.maxPageSize), state.events.slice(LIMITS.maxPageSize)];
    const open = rest.filter((id) => outcomes.get(id)?.every(({ status }) => status === "succeeded") !== true);
    const read = [...first, ...open];
    try {
      for (let start = 0; start < read.length; start += EVENTS_AT_ONCE) {
        await readOutcomes(call, read.slice(start, start + EVENTS_AT_ONCE));
        draw();
      }
    } catch {
      // The next change reads them.
    }
  };
  const readSoon = () => {
    if (state.events.length === 0) return;
    state.timer ??= setTimeout(
      () => {
        state.timer = undefined;
        state.readAt = Date.now();
        void readAll();
      },
      Math.max(0, state.readAt + PAUSE_MILLISECONDS - Date.now()),
    );
  };
  useEffect(() => {
    const stop = follow({
      changed(topic) {
        if (topic === "deliveries") readSoon();
      },
      missed: readSoon,
    });
    return () => {
      stop();
      clearTimeout(state.timer);
    };
  }, []);
  return (events) => {
    state.events = events;
    if (state.events.some((id) => !outcomes.has(id))) readSoon();
  };
}

const SHAPES: Readonly<Record<ReceiverState, string>> = {
  failed: "bad",
  retrying: "retry",
  missed: "off",
  held: "off",
  queued: "wait",
  canceled: "off",
  delivered: "good",
};
/** For more deliveries, a bar shows the share of each state. */
const MAX_DOTS = 8;

/** Returns the deliveries of some events that count for each receiver; undefined until those of all are known. */
export function deliveriesOf(events: readonly string[]): readonly Delivery[] | undefined {
  const found = events.map((event) => outcomes.get(event));
  return found.includes(undefined) ? undefined : (found as Outcome[]).flat();
}

/** Returns the endpoints that an event was not sent to, as far as its deliveries are known. */
export function endpointsThatMissed(event: SentEvent, endpoints: readonly WebhookEndpoint[] = []): WebhookEndpoint[] {
  const deliveries = outcomes.get(event.id);
  return deliveries === undefined ? [] : notSentTo(event, endpoints, deliveries);
}

/** Returns what became of an event at each receiver; undefined until it is known. */
export function statesOfEvent(event: SentEvent, endpoints: readonly WebhookEndpoint[]): ReceiverState[] | undefined {
  const deliveries = outcomes.get(event.id);
  return deliveries && statesOf(event, deliveries, endpoints);
}

/** States of events in a list, by their value in the URL. */
export const EVENT_STATES = [
  ["", "All"],
  ["undelivered", "Not delivered or missed"],
  ["missed", "Missed: endpoint disabled"],
  ["failed", "Failed"],
  ["retrying", "Retrying"],
  ["held", "Held: endpoint disabled"],
  ["delivered", "Delivered"],
] as const;

/** Returns whether a list with a state contains an event, or what some events are about; undefined until that is known. */
export function isInState(
  events: readonly SentEvent[] | undefined,
  endpoints: readonly WebhookEndpoint[] | undefined,
  state: string,
): boolean | undefined {
  const found = endpoints && events?.map((event) => statesOfEvent(event, endpoints));
  if (found === undefined || found.includes(undefined)) return undefined;
  const states = (found as ReceiverState[][]).flat();
  if (state === "undelivered") return states.some((one) => one !== "delivered");
  if (state === "delivered") return states.length > 0 && states.every((one) => one === "delivered");
  return states.some((one) => one === state);
}

/** Shows a shape for each delivery of an event, or of several, and how many of them were delivered. */
export function OutcomeOf(props: {
  event: SentEvent | FoundEvents | undefined;
  /** Those that may have missed it. */
  endpoints: readonly WebhookEndpoint[] | undefined;
  /** Why there is none. */
  notSent?: string;
  /** True for a bar instead of a shape for each. */
  isShort?: boolean;
}) {
  const { event, endpoints, notSent = "Not sent", isShort = false } = props;
  const found = event !== undefined && "id" in event ? { events: [event], areAll: true } : event;
  const events = found?.events;
  const deliveries = events && deliveriesOf(events.map(({ id }) => id));
  if (events === undefined || deliveries === undefined || endpoints === undefined) return <Unknown />;
  // They are older than 30 days, or than what was searched.
  if (events.length === 0) return <None />;
  const all = events.flatMap((one) => statesOfEvent(one, endpoints) ?? []);
  if (all.length === 0) {
    return (
      <span class="soft">
        <span class="from-tablet">{deliveries.length === 0 ? notSent : "Endpoint deleted"}</span>
        <span class="narrow-only">Not sent</span>
      </span>
    );
  }
  const tally = tallyOf(all);
  const others = tally.filter(([state]) => state !== "delivered");
  const delivered = all.filter((one) => one === "delivered").length;
  const inWords = (some: typeof tally) => some.map(([state, number]) => `${count(number)} ${state}`).join(", ");
  return (
    <span class="status" title={inWords(tally)}>
      {isShort || all.length > MAX_DOTS ? (
        <span class="share" aria-hidden="true">
          {STATES.toReversed().map((one) => (
            <span key={one} class={SHAPES[one]} style={{ flexGrow: all.filter((other) => other === one).length }} />
          ))}
        </span>
      ) : (
        <span class="dots" aria-hidden="true">
          {STATES.toReversed()
            .flatMap((one) => all.filter((other) => other === one))
            .map((one, index) => (
              <span key={index} class={SHAPES[one]}>
                <span class="dot" />
              </span>
            ))}
        </span>
      )}
      {all.length === 1 ? (
        <span>{all[0]}</span>
      ) : (
        <>
          <span>{`${count(delivered)} of ${found?.areAll === true ? "" : "the newest "}${count(all.length)}`}</span>
          <span class="soft of-total">{others.length === 0 ? " delivered" : ` · ${inWords(others)}`}</span>
        </>
      )}
    </span>
  );
}
