import { timeOfId } from "../contract/ids.ts";
import type { Delivery } from "../contract/schemas/delivery.ts";
import type { WebhookEndpoint } from "../contract/schemas/webhook-endpoint.ts";
import { type Cause, causeOf, type Outcome, type Receiver } from "./attempts.ts";
import type { Chain } from "./chain.ts";

const GONE = 410;

/** Returns a time that is not later than the last attempt, to the millisecond if that is known. */
export function lastAttemptTime(at: string, delivery: Delivery | undefined): number {
  return Math.max(Date.parse(at), delivery === undefined ? 0 : timeOfId(delivery.id));
}

/**
 * Returns why an attempt failed. If its endpoint was changed afterwards, the response says nothing about how the endpoint
 * is now, so a retry has to show it.
 */
export function currentCause(
  outcome: Outcome,
  time: number,
  receiver: Receiver,
  endpoint: WebhookEndpoint | undefined,
  { changes }: Chain,
): Cause {
  if (endpoint === undefined) return causeOf(outcome, receiver);
  const isMoved = (changes.get(endpoint.id) ?? []).some((change) => change.time > time && change.url !== undefined);
  const change = isMoved
    ? "its URL was changed"
    : Date.parse(endpoint.secret_created) > time
      ? "the secret was rotated"
      : outcome.status_code === GONE && endpoint.status === "enabled"
        ? "the endpoint was enabled again"
        : undefined;
  if (change === undefined) return causeOf(outcome, receiver);
  const name = isMoved && endpoint.description === null ? "the endpoint" : receiver.name;
  const { code, what } = causeOf(outcome, { ...receiver, name });
  const failed = outcome.status_code === null ? `The last attempt failed with ${code}` : what;
  return { code, what: `${failed} before ${change}`, action: "Retry" };
}
