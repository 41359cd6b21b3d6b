import { type Static, Type } from "typebox";
import { type StatusOf, statusesOf } from "../resources.ts";
import {
  Created,
  idOf,
  listOf,
  listQuery,
  Livemode,
  nullable,
  NULL_IN_EXAMPLES,
  objectOf,
  SEARCH_FILTERS,
  timestamp,
} from "./fields.ts";

export type DeliveryStatus = StatusOf<"delivery">;

/** One POST to a receiver. `status_code` is null without a response, and `error` says why. */
export const Attempt = Type.Object(
  {
    at: timestamp("When it was made"),
    status_code: nullable(Type.Integer({ description: "Null if there was no response", examples: [200] })),
    error: nullable(Type.String({ description: "The error; null if there was none" })),
    duration_ms: Type.Number({ description: "Duration in milliseconds", examples: [23.4] }),
    request_headers: nullable(
      Type.Record(Type.String(), Type.String(), {
        examples: [{ "Content-Type": "application/json", "Service-Delivery-Attempt": "1" }],
        description: "Request headers, including the signature; null if no request was sent, and for listeners",
      }),
    ),
    response_headers: nullable(
      Type.Record(Type.String(), Type.String(), {
        description: "At most 8,192 characters; null without a response. For a listener: at most `location`",
        examples: [{ "content-length": "2" }],
      }),
    ),
    response_excerpt: nullable(Type.String({ description: "The start of the response body", examples: ["ok"] })),
  },
  { $id: "Attempt", description: "One attempt to deliver an event" },
);
export type Attempt = Static<typeof Attempt>;

/** The delivery of one event to one endpoint, or to one target of a listener (`endpoint` null). */
export const Delivery = Type.Object(
  {
    id: idOf("delivery"),
    object: objectOf("delivery"),
    event: idOf("event"),
    event_type: Type.String({ description: "Type of the event", examples: ["customer.created"] }),
    endpoint: nullable(idOf("webhook_endpoint", { description: "ID of the endpoint; null for a listener" })),
    listener: nullable(
      idOf("listener", { description: "ID of the `service listen` that got it; null for an endpoint" }),
      NULL_IN_EXAMPLES,
    ),
    target: nullable(
      Type.String({
        description: "URL that the listener forwards to; null for an endpoint, and for a listener that only prints",
        examples: ["http://localhost:3000/webhooks"],
      }),
      NULL_IN_EXAMPLES,
    ),
    status: Type.Enum(statusesOf("delivery"), {
      description:
        "`pending` until an attempt succeeds; `failed` once there are no more retries; `canceled` by a request, or with its endpoint",
      examples: ["succeeded"],
    }),
    attempt_count: Type.Integer({ description: "Number of attempts so far", examples: [1] }),
    last_status_code: nullable(
      Type.Integer({
        description: "Response to the last attempt; null before it, and without a response",
        examples: [200],
      }),
    ),
    last_error: nullable(Type.String({ description: "Why the last attempt got no response; null if it got one" })),
    last_attempt_at: nullable(timestamp("When the last attempt was made; null before it")),
    next_attempt: nullable(
      Type.String({
        format: "timestamp",
        description: "When it is attempted next; null once it is final, and while its endpoint is disabled",
      }),
      NULL_IN_EXAMPLES,
    ),
    attempting_since: nullable(
      timestamp("When the attempt in progress began; null if there is none"),
      NULL_IN_EXAMPLES,
    ),
    livemode: Livemode,
    created: Created,
    attempts: Type.Optional(Type.Array(Attempt, { description: "Every attempt, oldest first; not in lists" })),
  },
  { $id: "Delivery", description: "The delivery of an event to an endpoint or a listener" },
);
export type Delivery = Static<typeof Delivery>;

/** A pending delivery that had an attempt is retrying. */
export const DELIVERY_FILTERS = [...statusesOf("delivery"), "retrying"] as const;

export const DeliveryListQuery = listQuery({
  endpoint: Type.Optional(idOf("webhook_endpoint", { description: "Deliveries to this endpoint" })),
  event: Type.Optional(idOf("event", { description: "Deliveries of this event" })),
  status: Type.Optional(
    Type.Enum([...DELIVERY_FILTERS], {
      description: "Deliveries with this status. `retrying`: pending deliveries with a failed attempt",
    }),
  ),
  code: Type.Optional(
    Type.String({
      pattern: "^([1-5](\\d\\d|xx)|none)$",
      description: "The response to the last attempt: a status, a class such as 5xx, or `none` without one",
      examples: ["5xx"],
    }),
  ),
  ...SEARCH_FILTERS,
});
export type DeliveryListQuery = Static<typeof DeliveryListQuery>;

export const DeliveryList = listOf(Delivery, "DeliveryList");
