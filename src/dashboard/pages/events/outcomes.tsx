import { useEffect, useReducer, useRef } from "preact/hooks";
import { LIMITS } from "../../../contract/limits.ts";
import type { Delivery } from "../../../contract/schemas/delivery.ts";
import { useCall, withQuery } from "../../api/call.ts";
import { follow } from "../../api/live.ts";
import { Status } from "../../components/values.tsx";
import { environment } from "../../router.tsx";

/** The number of an event's deliveries by status. */
type Outcome = ReadonlyMap<Delivery["status"], number>;

/** While deliveries change, outcomes are read at most this often. */
const PAUSE_MILLISECONDS = 1000;
/** With more deliveries than fit on these pages, no outcomes are shown. */
const MAX_PAGES = 10;
/** Maximum number of outcomes that are kept, so that scrolling back shows them at once. */
const MAX_OUTCOMES = 5000;

const outcomes = new Map<string, Outcome>();
environment.subscribe(() => outcomes.clear());

async function readOutcomes(call: ReturnType<typeof useCall>, events: readonly string[]): Promise<void> {
  const found = new Map(events.map((id) => [id, new Map<Delivery["status"], number>()]));
  const query = { query: events.join(","), limit: LIMITS.maxPageSize };
  let cursor: string | null | undefined;
  for (let page = 0; cursor !== null; page++) {
    if (page === MAX_PAGES) return;
    const path = withQuery("/v1/deliveries", { ...query, cursor });
    const read = await call<{ data: Delivery[]; next_cursor: string | null }>("GET", path);
    for (const { event, status } of read.data) {
      const counts = found.get(event);
      counts?.set(status, (counts.get(status) ?? 0) + 1);
    }
    cursor = read.next_cursor;
  }
  for (const [id, counts] of found) {
    outcomes.delete(id);
    outcomes.set(id, counts);
  }
  for (const old of outcomes.keys()) {
    if (outcomes.size <= MAX_OUTCOMES) break;
    outcomes.delete(old);
  }
}

/** Returns a function that reads the outcomes of some events in one list, now and whenever deliveries change. */
export function useOutcomes(): (events: readonly string[]) => void {
  const call = useCall();
  const [, draw] = useReducer((count: number) => count + 1, 0);
  const { current: state } = useRef({
    events: [] as readonly string[],
    readAt: -Infinity,
    timer: undefined as ReturnType<typeof setTimeout> | undefined,
  });
  const readSoon = () => {
    if (state.events.length === 0) return;
    state.timer ??= setTimeout(
      () => {
        state.timer = undefined;
        state.readAt = Date.now();
        // After an error the next change reads them.
        readOutcomes(call, state.events).then(draw, () => {});
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
    state.events = events.slice(0, LIMITS.maxPageSize);
    if (state.events.some((id) => !outcomes.has(id))) readSoon();
  };
}

/** Shows the status that needs attention first, and how many of several deliveries succeeded. */
export function OutcomeOf({ event }: { event: string }) {
  const outcome = outcomes.get(event);
  if (outcome === undefined) return null;
  const total = [...outcome.values()].reduce((sum, count) => sum + count, 0);
  if (total === 0) return <span class="soft">Not sent</span>;
  const worst = (["failed", "pending", "canceled", "succeeded"] as const).find((status) => outcome.has(status));
  return (
    <>
      <Status status={worst!} />
      {total > 1 && <span class="soft">{` ${outcome.get("succeeded") ?? 0} of ${total}`}</span>}
    </>
  );
}
