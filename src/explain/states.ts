import type { Delivery } from "../contract/schemas/delivery.ts";
import type { WebhookEndpoint } from "../contract/schemas/webhook-endpoint.ts";
import { isSameReceiver } from "./receivers.ts";
import { notSentTo, type SentEvent } from "./unsent.ts";

/** What became of an event at a receiver, in the order in which it needs attention. */
export const STATES = ["failed", "retrying", "missed", "held", "queued", "canceled", "delivered"] as const;
export type ReceiverState = (typeof STATES)[number];

const OF_STATUS = { pending: "queued", succeeded: "delivered", failed: "failed", canceled: "canceled" } as const;

/** Returns the state of a delivery: one that waits is queued, being retried, or held while its endpoint is disabled. */
export function stateOf(delivery: Delivery): ReceiverState {
  const { status, endpoint, attempt_count: attempts, next_attempt: next, attempting_since: since } = delivery;
  if (status === "pending" && endpoint !== null && next === null && since === null) return "held";
  return status === "pending" && attempts > 0 ? "retrying" : OF_STATUS[status];
}

/** Returns the deliveries of an event by receiver, in their order. */
export function groupByReceiver(deliveries: readonly Delivery[]): Delivery[][] {
  const groups: Delivery[][] = [];
  for (const delivery of deliveries) {
    const own = groups.find(([first]) => isSameReceiver(first!, delivery));
    if (own === undefined) groups.push([delivery]);
    else own.push(delivery);
  }
  return groups;
}

/** Returns the delivery that counts for each receiver of an event: one that succeeded, or else the newest. */
export function decisiveDeliveries(newestFirst: readonly Delivery[]): Delivery[] {
  return groupByReceiver(newestFirst).map((own) => own.find(({ status }) => status === "succeeded") ?? own[0]!);
}

/**
 * Returns what became of an event at each of its receivers: those with a delivery, and those that it was not sent to
 * because they are disabled. A deleted endpoint that did not get it counts no more. Every count of an event, and of
 * what belongs to an object, is one of these.
 */
export function statesOf(
  event: SentEvent,
  deliveries: readonly Delivery[],
  endpoints: readonly WebhookEndpoint[],
): ReceiverState[] {
  const unsent = notSentTo(event, endpoints, deliveries).map((): ReceiverState => "missed");
  const exists = ({ endpoint, status }: Delivery) =>
    endpoint === null || status === "succeeded" || endpoints.some(({ id }) => id === endpoint);
  return decisiveDeliveries(deliveries).filter(exists).map(stateOf).concat(unsent);
}

/** Returns how often each state occurs, the worst first. */
export function tallyOf(states: readonly ReceiverState[]): (readonly [state: ReceiverState, number: number])[] {
  return STATES.map((state) => [state, states.filter((one) => one === state).length] as const).filter(
    ([, number]) => number > 0,
  );
}

const IN_WORDS: Readonly<Record<ReceiverState, string>> = {
  failed: "failed",
  retrying: "being retried",
  missed: "disabled",
  held: "held for a disabled endpoint",
  queued: "waiting",
  canceled: "canceled",
  delivered: "delivered",
};

/** Returns how many receivers an event did not reach, by why: `2 failed, 1 is disabled`. */
export function inWords(missed: readonly ReceiverState[]): string {
  const verbOf = (state: ReceiverState, count: number) => (state === "failed" ? "" : count === 1 ? "is " : "are ");
  return tallyOf(missed)
    .map(([state, count]) => `${count} ${verbOf(state, count)}${IN_WORDS[state]}`)
    .join(", ");
}
