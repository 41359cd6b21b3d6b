import { type Static, Type } from "typebox";
import { DELIVERY_USER_AGENT, HEADERS } from "../headers.ts";
import { type StatusOf, statusesOf } from "../resources.ts";
import {
  SEARCH_FILTERS,
  Created,
  decimal,
  idOf,
  integer,
  listOf,
  listQuery,
  Livemode,
  named,
  nullable,
  nullInExamples,
  objectOf,
  oneOf,
  several,
  text,
  timestamp,
} from "./fields.ts";

export type DeliveryStatus = StatusOf<"delivery">;

/** One POST to a receiver. `status_code` is null without a response, and `error` says why. */
export const Attempt = named("Attempt", "One attempt to deliver an event", {
  at: timestamp("When it was made"),
  status_code: nullable(integer("Null if there was no response", 200)),
  error: nullable(text("The error; null if there was none")),
  duration_ms: decimal("Duration in milliseconds", 23.4),
  request_headers: nullable(
    Type.Record(Type.String(), Type.String(), {
      examples: [
        {
          "Content-Type": "application/json",
          "User-Agent": DELIVERY_USER_AGENT,
          [HEADERS.signature]: `t=1793534400,v1=${"5257a869e7ecebed".repeat(4)}`,
          [HEADERS.eventId]: "evt_4Vf8aTqz0bKm2sNw9XyRcd",
          [HEADERS.deliveryAttempt]: "1",
          "Content-Length": "376",
        },
      ],
      description: "Request headers, including the signature; null if no request was sent, and for listeners",
    }),
  ),
  response_headers: nullable(
    Type.Record(Type.String(), Type.String(), {
      description:
        "At most 8,192 characters; null without a response. For a listener: at most those of an error response that show why it failed",
      examples: [{ "content-length": "2" }],
    }),
  ),
  response_excerpt: nullable(text("The start of the response body", "ok")),
  injected: nullInExamples(
    text(
      "Faults that `listen --chaos` injected around it, with the responses to extra requests, such as `drop, badsig 400`; null without any",
    ),
  ),
});
export type Attempt = Static<typeof Attempt>;

/** The delivery of one event to one endpoint, or to one target of a listener (`endpoint` null). */
export const Delivery = named("Delivery", "The delivery of an event to an endpoint or a listener", {
  id: idOf("delivery"),
  object: objectOf("delivery"),
  event: idOf("event"),
  event_type: text("Type of the event", "customer.created"),
  endpoint: nullable(idOf("webhook_endpoint", "ID of the endpoint; null for a listener")),
  listener: nullInExamples(idOf("listener", "ID of the `service listen` that got it; null for an endpoint")),
  target: nullInExamples(
    text(
      "URL that the listener forwards to; null for an endpoint, and for a listener that only prints",
      "http://localhost:3000/webhooks",
    ),
  ),
  status: oneOf(
    statusesOf("delivery"),
    "`pending` until an attempt succeeds; `failed` once there are no more retries; `canceled` by a request, or with its endpoint",
    "succeeded",
  ),
  attempt_count: integer("Number of attempts so far", 1),
  last_status_code: nullable(integer("Response to the last attempt; null before it, and without a response", 200)),
  last_error: nullable(text("Why the last attempt got no response; null if it got one")),
  last_attempt_at: nullable(timestamp("When the last attempt was made; null before it")),
  next_attempt: nullInExamples(
    timestamp("When it is attempted next; null once it is final, and while its endpoint is disabled"),
  ),
  attempting_since: nullInExamples(timestamp("When the attempt in progress began; null if there is none")),
  livemode: Livemode,
  created: Created,
  attempts: Type.Optional(several(Attempt, "Every attempt, oldest first; not in lists")),
});
export type Delivery = Static<typeof Delivery>;

/** A pending delivery that had an attempt is retrying; one that is pending or failed has not arrived. */
export const DELIVERY_FILTERS = [...statusesOf("delivery"), "retrying", "undelivered"] as const;

export const DeliveryListQuery = listQuery({
  endpoint: Type.Optional(idOf("webhook_endpoint", "Deliveries to this endpoint")),
  receiver: Type.Optional(oneOf(["endpoint", "listener"], "Deliveries to endpoints, or to targets of listeners")),
  event: Type.Optional(idOf("event", "Deliveries of this event")),
  status: Type.Optional(
    oneOf(
      DELIVERY_FILTERS,
      "Deliveries with this status. `retrying`: pending deliveries with a failed attempt; `undelivered`: pending and failed ones",
    ),
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
