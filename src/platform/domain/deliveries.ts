import type { Attempt, Delivery, DeliveryListQuery } from "../../contract/schemas/delivery.ts";
import { formatTimestamp } from "../../contract/timestamps.ts";
import type { AttemptRow } from "../storage/attempts.ts";
import type { Queries, Transaction } from "../storage/database.ts";
import {
  cancelDelivery,
  findDeliveryWithAttempts,
  findDelivery,
  listDeliveries,
  requeueDelivery,
  type ShownDelivery,
} from "../storage/deliveries.ts";
import { findEventToDeliver } from "../storage/events.ts";
import type { PageRequest } from "../storage/page.ts";
import { ApiError, existing } from "./api-error.ts";
import type { RequestContext, Tenant } from "./request-context.ts";
import { eventExpired } from "./replay.ts";
import { endpointDisabled } from "./webhook-endpoints.ts";

export async function getDelivery(queries: Queries, tenant: Tenant, id: string): Promise<Delivery> {
  const found = await existing("delivery", id, () => findDeliveryWithAttempts(queries, tenant.environment, id));
  return { ...toDelivery(found.delivery, tenant), attempts: found.attempts.map(toAttempt) };
}

export async function pageOfDeliveries(
  queries: Queries,
  tenant: Tenant,
  page: PageRequest,
  { endpoint, event, status }: DeliveryListQuery,
): Promise<Delivery[]> {
  const rows = await listDeliveries(queries, page, { endpointId: endpoint, eventId: event, status });
  return rows.map((row) => toDelivery(row, tenant));
}

/**
 * Makes a delivery due now unless it has succeeded. One that had ended gets another 3 days of
 * retries. Throws ApiError
 * `delivery_not_retryable`, `endpoint_disabled`, `endpoint_deleted` or `event_expired`.
 */
export async function retryDelivery(tx: Transaction, context: RequestContext, id: string): Promise<Delivery> {
  const row = await existing("delivery", id, () => findDelivery(tx, context.tenant.environment, id));
  if (row.endpoint_id === null) {
    throw notRetryable(id, "it was sent to a listener; replay the event instead");
  }
  if (row.status === "succeeded") throw notRetryable(id, "it has succeeded; replay the event to send it again");
  if (row.endpoint_status === null) {
    throw new ApiError(
      "endpoint_deleted",
      `The endpoint ${row.endpoint_id} was deleted. Replay the event to another endpoint.`,
    );
  }
  if (row.endpoint_status === "disabled") throw endpointDisabled(row.endpoint_id);
  if ((await findEventToDeliver(tx, row.environment, row.event_id)) === undefined) throw eventExpired(row.event_id);
  await requeueDelivery(tx, row, context.now);
  tx.notify("deliveries");
  return toDelivery({ ...row, status: "pending", next_attempt: context.now }, context.tenant);
}

/** Cancels a pending delivery: it is not attempted any more. Throws ApiError `delivery_not_cancelable`. */
export async function cancelPending(tx: Transaction, context: RequestContext, id: string): Promise<Delivery> {
  const row = await existing("delivery", id, () => findDelivery(tx, context.tenant.environment, id));
  if (row.status !== "canceled" && !(await cancelDelivery(tx, id))) {
    const detail = `The delivery ${id} cannot be canceled: it has ${row.status}.`;
    throw new ApiError("delivery_not_cancelable", detail);
  }
  return toDelivery({ ...row, status: "canceled", next_attempt: null }, context.tenant);
}

function notRetryable(id: string, reason: string): ApiError {
  return new ApiError("delivery_not_retryable", `The delivery ${id} cannot be retried: ${reason}.`);
}

function toDelivery(row: ShownDelivery, tenant: Tenant): Delivery {
  // While its endpoint is disabled, a delivery waits and has no next attempt.
  const scheduled = row.endpoint_status === "enabled" ? row.next_attempt : null;
  return {
    id: row.id,
    object: "delivery",
    event: row.event_id,
    event_type: row.event_type,
    endpoint: row.endpoint_id,
    listener: row.listener_id,
    status: row.status,
    attempt_count: row.attempt_count,
    next_attempt: scheduled === null ? null : formatTimestamp(scheduled),
    livemode: tenant.livemode,
    created: formatTimestamp(row.created),
  };
}

function toAttempt(row: AttemptRow): Attempt {
  return {
    at: formatTimestamp(row.at),
    status_code: row.status_code,
    error: row.error,
    duration_ms: row.duration_ms,
    request_headers: headersOf(row.request_headers),
    response_headers: headersOf(row.response_headers),
    response_excerpt: row.response_excerpt,
  };
}

function headersOf(json: string | null): Record<string, string> | null {
  return json === null ? null : (JSON.parse(json) as Record<string, string>);
}
