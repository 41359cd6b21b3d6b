import { randomBytes } from "node:crypto";
import { createIdGenerator } from "../contract/ids.ts";
import { formatTimestamp } from "../contract/timestamps.ts";
import type { EventEnvelope, EventObjects, WebhookEvent, WebhookEventType } from "../webhooks/index.ts";
import { EVENT_SAMPLES } from "./event-samples.ts";

/** What an event created by `event` has besides its object. */
export interface EventDetails<Type extends WebhookEventType> extends Partial<
  Pick<EventEnvelope<Type, EventObjects[Type]>, "id" | "created" | "livemode" | "request">
> {
  /** On `*.updated`: the old values of the fields that changed. */
  previous?: Partial<EventObjects[Type]>;
}

const newId = createIdGenerator((size) => randomBytes(size));

/**
 * Returns an event for a test, as the platform would send it: `event("order.completed", { amount: 500 })`. Each has IDs of
 * its own. Fields of the object that are not given have the examples of the API's schemas.
 */
export function event<Type extends WebhookEventType>(
  type: Type,
  fields: Partial<EventObjects[Type]> = {},
  { previous, ...details }: EventDetails<Type> = {},
): WebhookEvent<Type> {
  const now = Date.now();
  const created = formatTimestamp(now);
  const sample = EVENT_SAMPLES[type];
  const object = { ...structuredClone(sample), id: newId(sample.object, now), created, ...fields };
  return {
    id: newId("event", now),
    object: "event",
    type,
    created,
    livemode: false,
    data: previous === undefined ? { object } : { object, previous },
    request: { id: newId("request", now) },
    ...details,
  };
}
