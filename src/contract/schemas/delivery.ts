import { type Static, Type } from "typebox";
import { listOf, listQuery, nullable, Timestamp } from "./fields.ts";

export const DELIVERY_STATUSES = ["pending", "succeeded", "failed"] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** One POST to a receiver. `status_code` is null where no reply came, and `error` says why. */
export const Attempt = Type.Object(
  {
    at: Timestamp,
    status_code: nullable(Type.Integer()),
    error: nullable(Type.String()),
    duration_ms: Type.Number(),
    response_excerpt: nullable(Type.String()),
  },
  { $id: "Attempt" },
);
export type Attempt = Static<typeof Attempt>;

/** One event on its way to one endpoint, or to one listener (`endpoint` null): decisions 3 and 5. */
export const Delivery = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal("delivery"),
    event: Type.String(),
    event_type: Type.String(),
    endpoint: nullable(Type.String()),
    listener: nullable(Type.String()),
    status: Type.Enum([...DELIVERY_STATUSES]),
    attempt_count: Type.Integer(),
    next_attempt: nullable(
      Type.String({
        format: "timestamp",
        description: "null once the delivery has ended, and while its endpoint is disabled",
      }),
    ),
    livemode: Type.Boolean(),
    created: Timestamp,
    attempts: Type.Optional(Type.Array(Attempt)),
  },
  { $id: "Delivery" },
);
export type Delivery = Static<typeof Delivery>;

export const DeliveryListQuery = listQuery({
  endpoint: Type.Optional(Type.String({ format: "webhook_endpoint-id" })),
  event: Type.Optional(Type.String({ format: "event-id" })),
  status: Type.Optional(Type.Enum([...DELIVERY_STATUSES])),
});
export type DeliveryListQuery = Static<typeof DeliveryListQuery>;

export const DeliveryList = listOf(Delivery, "DeliveryList");
