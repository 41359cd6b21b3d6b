import { InvalidArgumentError } from "commander";
import {
  EVENT_TYPES,
  type EventType,
  isEventType,
  SUBSCRIPTION_WILDCARDS,
  typesOfSubscription,
} from "../../contract/event-types.ts";
import { nearest } from "../../contract/nearest.ts";
import { UsageError } from "../errors.ts";

/** An event type that a person typed. Throws UsageError with the nearest names where there is none. */
export function parseEventType(text: string): EventType {
  if (isEventType(text)) return text;
  const near = nearest(text, EVENT_TYPES);
  throw new UsageError(`Unknown event type "${text}"`, {
    hint: near.length > 0 ? `Did you mean ${near.join(" or ")}?` : "To list them: service trigger --list",
  });
}

/** A flag's list of event types and wildcards: `order.*,customer.created`. */
export function parseSubscriptions(text: string): string[] {
  const subscriptions = text.split(",").map((name) => name.trim());
  const unknown = subscriptions.find((name) => typesOfSubscription(name).length === 0);
  if (unknown === undefined) return subscriptions;
  const near = nearest(unknown, [...EVENT_TYPES, ...SUBSCRIPTION_WILDCARDS]);
  throw new InvalidArgumentError(
    `"${unknown}" is not an event type. ${near.length === 0 ? "To list them: service trigger --list" : `Did you mean ${near.join(" or ")}?`}`,
  );
}
