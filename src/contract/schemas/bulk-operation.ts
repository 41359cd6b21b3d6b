import { type Static, Type } from "typebox";
import { statusesOf } from "../resources.ts";
import {
  closed,
  Created,
  CREATED_FILTERS,
  idOf,
  listOf,
  Livemode,
  nullable,
  NULL_IN_EXAMPLES,
  objectOf,
  timestamp,
} from "./fields.ts";

const BULK_TYPES = ["deliveries.retry", "events.replay"] as const;
export type BulkType = (typeof BULK_TYPES)[number];

/** Statuses of deliveries that can be retried. The first one is the default. */
const RETRYABLE_STATUSES = ["failed", "canceled", "pending"] as const;

const FILTERS = {
  endpoint: Type.Optional(idOf("webhook_endpoint", { description: "Deliveries to this endpoint" })),
  type: Type.Optional(
    Type.String({ format: "subscription", description: "An event type, or a wildcard such as `order.*`" }),
  ),
  ...CREATED_FILTERS,
};
const DryRun = Type.Optional(
  Type.Boolean({ description: "Only count: the response has a `total` and no ID, and nothing is sent" }),
);

export const DeliveryBulkRetry = closed(
  {
    ...FILTERS,
    status: Type.Optional(
      Type.Enum([...RETRYABLE_STATUSES], { default: "failed", description: "Deliveries with this status" }),
    ),
    dry_run: DryRun,
  },
  { $id: "DeliveryBulkRetry", description: "Filters for the deliveries to retry" },
);
export type DeliveryBulkRetry = Static<typeof DeliveryBulkRetry>;

export const EventBulkReplay = closed(
  {
    ...FILTERS,
    endpoint: Type.Optional(
      idOf("webhook_endpoint", { description: "Send only to this endpoint (default: all subscribed endpoints)" }),
    ),
    status: Type.Optional(
      Type.Enum(statusesOf("delivery"), {
        description: "Only events with a delivery in this status, each sent only to the endpoints of those deliveries",
      }),
    ),
    missed: Type.Optional(
      Type.Boolean({
        description:
          "Only events that `endpoint` subscribes to and has no delivery of, for example because it was disabled",
      }),
    ),
    dry_run: DryRun,
  },
  { $id: "EventBulkReplay", description: "Filters for the events to replay, and their endpoints" },
);
export type EventBulkReplay = Static<typeof EventBulkReplay>;

/** The filters of an operation, as in the request that created it. */
export type BulkFilters = Omit<EventBulkReplay, "dry_run">;

/** An operation on many objects, which runs in the background. It survives the process that started it. */
export const BulkOperation = Type.Object(
  {
    id: nullable(idOf("bulk_operation"), { description: "ID of the bulk operation; null for a dry run" }),
    object: objectOf("bulk_operation"),
    type: Type.Enum([...BULK_TYPES], { description: "What it does" }),
    status: Type.Enum(statusesOf("bulk_operation"), {
      description: "`running`, then `succeeded`, or `canceled` by a request",
    }),
    filters: Type.Object(
      {
        endpoint: nullable(Type.String({ description: "ID of the endpoint; null for all" })),
        type: nullable(Type.String({ description: "Event type or wildcard; null for all" })),
        status: nullable(
          Type.Enum(statusesOf("delivery"), {
            description: "Status of the deliveries; null for all",
            examples: ["failed"],
          }),
        ),
        missed: nullable(
          Type.Boolean({ description: "True for what the endpoint missed only; null otherwise" }),
          NULL_IN_EXAMPLES,
        ),
        created_after: nullable(timestamp("Earliest creation time; null for no limit"), NULL_IN_EXAMPLES),
        created_before: nullable(timestamp("Latest creation time; null for no limit"), NULL_IN_EXAMPLES),
      },
      { description: "The filters of the request" },
    ),
    total: Type.Integer({ description: "Number of matching objects", examples: [12] }),
    done: Type.Integer({ description: "Number of objects that were retried or replayed", examples: [8] }),
    failed: Type.Integer({
      description:
        "Number of objects that could not be retried or replayed, for example because their endpoint is disabled",
    }),
    last_error: nullable(Type.String({ description: "Reason for the last of these failures" })),
    livemode: Livemode,
    created: Created,
    ended_at: nullable(timestamp("When it ended; null while it runs"), NULL_IN_EXAMPLES),
  },
  { $id: "BulkOperation", description: "Retries or replays of many objects, carried out in the background" },
);
export type BulkOperation = Static<typeof BulkOperation>;

export const BulkOperationList = listOf(BulkOperation, "BulkOperationList");
