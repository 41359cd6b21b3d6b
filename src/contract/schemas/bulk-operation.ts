import { type Static, Type } from "typebox";
import { statusesOf } from "../resources.ts";
import {
  CREATED_FILTERS,
  Created,
  flag,
  formatted,
  group,
  idOf,
  integer,
  listOf,
  Livemode,
  named,
  nullable,
  nullInExamples,
  objectOf,
  oneOf,
  parameters,
  text,
  timestamp,
} from "./fields.ts";

const BULK_TYPES = ["deliveries.retry", "events.replay"] as const;
export type BulkType = (typeof BULK_TYPES)[number];

/** Statuses of deliveries that can be retried. The first one is the default. */
const RETRYABLE_STATUSES = ["failed", "canceled", "pending"] as const;

const FILTERS = {
  endpoint: Type.Optional(idOf("webhook_endpoint", "Deliveries to this endpoint")),
  type: Type.Optional(formatted("subscription", "An event type, or a wildcard such as `order.*`")),
  ...CREATED_FILTERS,
};
const DryRun = Type.Optional(flag("Only count: the response has a `total` and no ID, and nothing is sent"));

export const DeliveryBulkRetry = parameters("DeliveryBulkRetry", "Filters for the deliveries to retry", {
  ...FILTERS,
  status: Type.Optional(
    Type.Enum([...RETRYABLE_STATUSES], { default: "failed", description: "Deliveries with this status" }),
  ),
  dry_run: DryRun,
});
export type DeliveryBulkRetry = Static<typeof DeliveryBulkRetry>;

export const EventBulkReplay = parameters("EventBulkReplay", "Filters for the events to replay, and their endpoints", {
  ...FILTERS,
  endpoint: Type.Optional(idOf("webhook_endpoint", "Send only to this endpoint (default: all subscribed endpoints)")),
  status: Type.Optional(
    oneOf(
      statusesOf("delivery"),
      "Only events with a delivery in this status, each sent only to the endpoints of those deliveries",
    ),
  ),
  missed: Type.Optional(
    flag("Only events that `endpoint` subscribes to and has no delivery of, for example because it was disabled"),
  ),
  dry_run: DryRun,
});
export type EventBulkReplay = Static<typeof EventBulkReplay>;

/** The filters of an operation, as in the request that created it. */
export type BulkFilters = Omit<EventBulkReplay, "dry_run">;

/** An operation on many objects, which runs in the background. It survives the process that started it. */
export const BulkOperation = named(
  "BulkOperation",
  "Retries or replays of many objects, carried out in the background",
  {
    id: nullable(idOf("bulk_operation"), { description: "ID of the bulk operation; null for a dry run" }),
    object: objectOf("bulk_operation"),
    type: oneOf(BULK_TYPES, "What it does"),
    status: oneOf(statusesOf("bulk_operation"), "`running`, then `succeeded`, or `canceled` by a request"),
    filters: group("The filters of the request", {
      endpoint: nullable(text("ID of the endpoint; null for all")),
      type: nullable(text("Event type or wildcard; null for all")),
      status: nullable(oneOf(statusesOf("delivery"), "Status of the deliveries; null for all", "failed")),
      missed: nullInExamples(flag("True for what the endpoint missed only; null otherwise")),
      created_after: nullInExamples(timestamp("Earliest creation time; null for no limit")),
      created_before: nullInExamples(timestamp("Latest creation time; null for no limit")),
    }),
    total: integer("Number of matching objects", 12),
    done: integer("Number of objects that were retried or replayed", 8),
    failed: integer(
      "Number of objects that could not be retried or replayed, for example because their endpoint is disabled",
    ),
    last_error: nullable(text("Reason for the last of these failures")),
    livemode: Livemode,
    created: Created,
    ended_at: nullInExamples(timestamp("When it ended; null while it runs")),
  },
);
export type BulkOperation = Static<typeof BulkOperation>;

export const BulkOperationList = listOf(BulkOperation, "BulkOperationList");
