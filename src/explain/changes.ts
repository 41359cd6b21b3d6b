import { matchesSubscriptions } from "../contract/event-types.ts";
import { timeOfId } from "../contract/ids.ts";
import type { Delivery } from "../contract/schemas/delivery.ts";
import type { Event } from "../contract/schemas/event.ts";
import type { WebhookEndpoint } from "../contract/schemas/webhook-endpoint.ts";
import { labelOfFailure } from "../contract/failure-labels.ts";
import { counted } from "../contract/words.ts";
import { type Cause, causeOf, type Outcome } from "./causes.ts";
import type { Chain } from "./chain.ts";
import type { EndpointChange } from "./endpoint-change.ts";
import type { FindingCode } from "./finding.ts";
import { type Receiver, receiverOfEndpoint } from "./receivers.ts";
import { wasDisabled, withoutDelivery } from "./unsent.ts";

const GONE = 410;
/** Failures that another secret may have repaired. */
export const OF_SECRET: ReadonlySet<FindingCode> = new Set([
  "signature_rejected",
  "receiver_unauthorized",
  "receiver_rejected",
]);
const SECOND = 1000;

/** Returns a time that is not later than the last attempt, to the millisecond if that is known. */
export function lastAttemptTime(at: string, delivery: Delivery | undefined): number {
  return Math.max(Date.parse(at), delivery === undefined ? 0 : timeOfId(delivery.id));
}

/**
 * Returns why an attempt failed. If its endpoint was changed afterwards, the response does not show whether the
 * endpoint works now, so a retry has to show it.
 */
export function currentCause(outcome: Outcome, time: number, receiver: Receiver, { endpoints, changes }: Chain): Cause {
  const endpoint = endpoints.get(receiver.endpoint ?? "");
  if (endpoint === undefined) return causeOf(outcome, receiver);
  const isMoved = (changes.get(endpoint.id) ?? []).some((change) => change.time > time && change.url !== undefined);
  const isOfSecret = OF_SECRET.has(causeOf(outcome, receiver).code);
  const change = isMoved
    ? "its URL was changed"
    : isOfSecret && Date.parse(endpoint.secret_created) > time
      ? "the secret was rotated"
      : outcome.status_code === GONE && endpoint.status === "enabled"
        ? "the endpoint was enabled again"
        : undefined;
  if (change === undefined) return causeOf(outcome, receiver);
  const name = isMoved && endpoint.description === null ? "the endpoint" : receiver.name;
  const { code, what } = causeOf(outcome, { ...receiver, name });
  const failed = outcome.status_code === null ? `The last attempt failed (${labelOfFailure(code)})` : what;
  return { code, what: `${failed} before ${change}`, action: "Retry now" };
}

/** What prevented an endpoint from receiving an event of a type that it subscribes to now. */
export interface Obstacle {
  why: "disabled" | "not subscribed";
  /** The change that removed it, and the one that began it if that is known. */
  until: EndpointChange;
  since: EndpointChange | undefined;
}

/** Returns the endpoints that subscribe to an event and did not get it, because they were disabled. */
export function disabledAt(event: Event, chain: Chain): WebhookEndpoint[] {
  const { id, type } = event;
  const { request, listed, endpoints } = chain;
  // A test event is sent to one endpoint.
  if (request?.path.endsWith("/ping") === true) return [];
  const all = [...endpoints.values()].filter((endpoint) => endpoint !== undefined);
  return withoutDelivery(event, all, listed).filter((endpoint) =>
    endpoint.status === "disabled"
      ? wasDisabled(endpoint, event)
      : obstacleAt(endpoint, { type, time: timeOfId(id) }, chain)?.why === "disabled",
  );
}

/** More endpoints are counted instead of named. */
const MAX_NAMED = 3;

/**
 * Returns which endpoints an event was not meant for: `Not subscribed: Mailer. Created after the event: Ledger`; undefined if it
 * was for all of them, or for none.
 */
export function notMeantFor(chain: Chain): string | undefined {
  const { event, request, listed, endpoints } = chain;
  // A test event is sent to one endpoint.
  if (event === undefined || listed.length === 0 || request?.path.endsWith("/ping") === true) return undefined;
  const missed = { type: event.type, time: timeOfId(event.id) };
  const reasonOf = (endpoint: WebhookEndpoint) => {
    if (listed.some((delivery) => delivery.endpoint === endpoint.id)) return undefined;
    if (timeOfId(endpoint.id) > missed.time) return "Created after the event";
    if (!matchesSubscriptions(endpoint.events, event.type)) return "Not subscribed";
    return obstacleAt(endpoint, missed, chain)?.why === "not subscribed" ? "Subscribed after the event" : undefined;
  };
  const all = [...endpoints.values()].filter((endpoint) => endpoint !== undefined);
  const parts = (["Not subscribed", "Subscribed after the event", "Created after the event"] as const).flatMap(
    (reason) => {
      const own = all.filter((endpoint) => reasonOf(endpoint) === reason);
      if (own.length === 0) return [];
      const names = own.map((endpoint) => receiverOfEndpoint(endpoint).name).join(", ");
      return `${reason}: ${own.length > MAX_NAMED ? counted(own.length, "endpoint") : names}`;
    },
  );
  return parts.length === 0 ? undefined : parts.join(". ");
}

/** Returns what prevented an endpoint from receiving an event at a time; undefined if its changes do not show it. */
export function obstacleAt(
  { id }: WebhookEndpoint,
  { type, time }: { type: string; time: number },
  { changes }: Chain,
): Obstacle | undefined {
  const own = changes.get(id) ?? [];
  const later = own.filter((change) => change.time > time);
  const enabling = later.findLast(({ status }) => status === "enabled");
  const disabling = own.find(({ status, time: at }) => status === "disabled" && at < (enabling?.time ?? 0));
  // The time of an event may be known to the second only.
  if (enabling !== undefined && (disabling?.time ?? 0) < time + SECOND) {
    return { why: "disabled", until: enabling, since: disabling };
  }
  const subscribing = later.findLast(({ events }) => events !== undefined && matchesSubscriptions(events, type));
  return subscribing && { why: "not subscribed", until: subscribing, since: undefined };
}
