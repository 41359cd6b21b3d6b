import { type Static, Type } from "typebox";
import { type StatusOf, statusesOf } from "../resources.ts";
import { idOf, listOf, listQuery, Livemode, nullable, SEARCH_FILTERS, Timestamp } from "./fields.ts";

export type DeliveryStatus = StatusOf<"delivery">;

/** One POST to a receiver. `status_code` is null without a response, and `error` says why. */
export const Attempt = Type.Object(
  {
    at: Timestamp,
    status_code: nullable(Type.Integer({ description: "Null if there was no response", examples: [200] })),
    error: nullable(Type.String({ description: "The error; null if there was none" })),
    duration_ms: Type.Number(),
    request_headers: nullable(
      Type.Record(Type.String(), Type.String(), {
        description: "Request headers, including the signature; null if no request was sent, and for listeners",
      }),
    ),
    response_headers: nullable(
      Type.Record(Type.String(), Type.String(), { description: "At most 8,192 characters; null without a response" }),
    ),
    response_excerpt: nullable(Type.String({ description: "The start of the response body" })),
  },
  { $id: "Attempt", description: "One attempt to deliver an event" },
);
export type Attempt = Static<typeof Attempt>;

/** The delivery of one event to one endpoint, or to one target of a listener (`endpoint` null). */
export const Delivery = Type.Object(
  {
    id: idOf("delivery"),
    object: Type.Literal("delivery"),
    event: idOf("event"),
    event_type: Type.String({ examples: ["customer.created"] }),
    endpoint: nullable(idOf("webhook_endpoint")),
    listener: nullable(idOf("listener")),
    target: nullable(
      Type.String({
        description: "URL that the listener forwards to; null for an endpoint, and for a listener that only prints",
        examples: ["http://localhost:3000/webhooks"],
      }),
    ),
    status: Type.Enum(statusesOf("delivery")),
    attempt_count: Type.Integer(),
    last_status_code: nullable(
      Type.Integer({
        description: "Response to the last attempt; null before it, and without a response",
        examples: [200],
      }),
    ),
    last_error: nullable(Type.String({ description: "Why the last attempt got no response; null if it got one" })),
    last_attempt_at: nullable(Timestamp),
    next_attempt: nullable(
      Type.String({
        format: "timestamp",
        description: "Null once the delivery is final, and while its endpoint is disabled",
      }),
    ),
    attempting_since: nullable(
      Type.String({ format: "timestamp", description: "When the attempt in progress began; null if there is none" }),
    ),
    livemode: Livemode,
    created: Timestamp,
    attempts: Type.Optional(Type.Array(Attempt)),
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
      description:
        "`retrying`: pending deliveries with a failed attempt. A page of these may be short, or empty, while `has_more` is true",
    }),
  ),
  code: Type.Optional(
    Type.String({
      pattern: "^([1-5](\\d\\d|xx)|none)$",
      description:
        "The response to the last attempt: a status, a class such as 5xx, or `none` without one. A page may be short, or empty, while `has_more` is true",
      examples: ["5xx"],
    }),
  ),
  ...SEARCH_FILTERS,
});
export type DeliveryListQuery = Static<typeof DeliveryListQuery>;

export const DeliveryList = listOf(Delivery, "DeliveryList");
