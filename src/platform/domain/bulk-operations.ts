import { EVENT_TYPES, matchesSubscriptions, typesOfSubscription } from "../../contract/event-types.ts";
import { lowestIdAt, timeOfId } from "../../contract/ids.ts";
import { LIMITS } from "../../contract/limits.ts";
import type { BulkFilters, BulkOperation, BulkType } from "../../contract/schemas/bulk-operation.ts";
import { formatTimestamp } from "../../contract/timestamps.ts";
import { ApiError, invalidFields, readsOf, unknownReference } from "./api-error.ts";
import { replayEvent, retryDelivery, type Sessions } from "./deliveries.ts";
import type { RequestContext, Tenant } from "./request-context.ts";
import {
  type BulkOperationRow,
  bulkOperationRows,
  type BulkRange,
  countDeliveries,
  countEvents,
  deliveriesOfEvent,
  nextDeliveries,
  nextEvents,
} from "../storage/bulk-operations.ts";
import { createdRangeOf, idRangeOf, newestId } from "../storage/page.ts";
import type { PartOf, Transaction } from "../storage/database.ts";
import { DamagedEventError } from "../storage/event-body.ts";
import { endpointRows } from "../storage/webhook-endpoints.ts";

/**
 * Maximum number of objects that one slice reads, and of rows that it writes before its last object: few enough not to
 * delay other requests.
 */
const MAX_SCANNED = 500;
const MAX_WRITTEN = 100;
/** A ping is sent to one endpoint, so the others do not miss it. */
const PING = "webhook_endpoint.ping";

/** An operation on missed events also has what the endpoint subscribed to when it was created. */
type StoredFilters = BulkFilters & { listeners?: boolean; subscriptions?: string[] };

/**
 * Creates an operation on all objects that match now, deliveries to listeners included if someone listens. With
 * `dry_run` it is only counted and not stored. Throws ApiError `invalid_request`.
 */
export async function createBulkOperation(
  context: RequestContext,
  type: BulkType,
  { dry_run: isDryRun = false, ...filters }: BulkFilters & { dry_run?: boolean },
  isListened: boolean,
): Promise<BulkOperation> {
  const { tx, tenant, now } = context;
  const { environment } = tenant;
  const { endpoint } = filters;
  const receiver = endpoint === undefined ? undefined : await endpointRows.find(tx, environment, endpoint);
  if (endpoint !== undefined && receiver === undefined) throw unknownReference("endpoint", "endpoint", endpoint);
  if (filters.missed === true && receiver === undefined) {
    throw invalidFields([{ pointer: "/endpoint", code: "incomplete", detail: "is required with missed" }]);
  }
  if (filters.missed === true && filters.status !== undefined) {
    throw invalidFields([{ pointer: "/status", code: "conflict", detail: "cannot be combined with missed" }]);
  }
  const created = createdRangeOf(filters);
  if (created.from !== undefined && created.before !== undefined && created.from > created.before) {
    throw invalidFields([{ pointer: "/created_after", code: "out_of_range", detail: "must be before created_before" }]);
  }
  const kind = type === "deliveries.retry" ? "delivery" : "event";
  const ids = idRangeOf(kind, created);
  // Older events can no longer be sent.
  const oldest = now - LIMITS.replaySeconds * 1000;
  const lowest = lowestIdAt(kind, kind === "event" ? oldest : 0);
  const start = ids.from ?? lowest;
  // An endpoint does not miss what happened before its creation, unless the test clock was ahead then and was reset.
  const createdAt = filters.missed === true ? timeOfId(receiver!.id) : 0;
  const earliest = createdAt <= now ? lowestIdAt(kind, createdAt) : start;
  const row: BulkOperationRow = {
    environment,
    id: context.newId("bulk_operation"),
    type,
    status: "running",
    filters: JSON.stringify({
      ...filters,
      listeners: isListened,
      ...(filters.missed === true && { subscriptions: JSON.parse(receiver!.events) as string[] }),
    } satisfies StoredFilters),
    request_id: context.requestId,
    total: 0,
    done: 0,
    failed: 0,
    last_error: null,
    position: start > earliest ? start : earliest,
    until_id: await endOfRange(tx, environment, kind, ids.before),
    created: now,
    ended_at: null,
  };
  row.total = await (kind === "delivery" ? countDeliveries : countEvents)(tx, rangeOf(row));
  if (row.total === 0) end(row, "succeeded", now);
  if (isDryRun) return { ...toBulkOperation(row, tenant), id: null };
  await bulkOperationRows.insert(tx, row);
  return toBulkOperation(row, tenant);
}

/**
 * Returns the lowest ID that an operation excludes: that of its time limit, or the one after the newest. The current time
 * does not limit it, because another process's clock may be slightly ahead.
 */
async function endOfRange(tx: Transaction, environment: number, kind: "delivery" | "event", before?: string) {
  const newest = (await newestId(tx, kind === "delivery" ? "deliveries" : "events", environment)) ?? "";
  const afterNewest = `${newest}0`;
  return before !== undefined && before < afterNewest ? before : afterNewest;
}

/** Cancels an operation. Completed work is not undone. An operation that has ended is unchanged. */
export async function cancelBulkOperation(context: RequestContext, id: string) {
  const { tx } = context;
  const row = await bulkOperations.row(tx, context.tenant, id);
  if (row.status === "running") {
    end(row, "canceled", context.now);
    await bulkOperationRows.update(tx, row);
  }
  return toBulkOperation(row, context.tenant);
}

export const bulkOperations = readsOf("bulk_operation", bulkOperationRows, toBulkOperation);

/** Carries out a part of an operation, with its progress: a crash repeats and skips none. Returns if there is more. */
export async function carryOutSlice(context: RequestContext, id: string, partOf: PartOf, sessionsIn: Sessions) {
  const { tx } = context;
  const { environment } = context.tenant;
  const row = await bulkOperationRows.find(tx, environment, id);
  if (row?.status !== "running") return false;
  const range = rangeOf(row);
  const read = row.type === "deliveries.retry" ? nextDeliveries : nextEvents;
  const found = await read(tx, range, MAX_SCANNED);
  let written = 0;
  for (const { id: item, type } of found) {
    if (written >= MAX_WRITTEN) break;
    row.position = item;
    if (range.types?.includes(type) === false) continue;
    const own = { ...context, requestId: row.request_id };
    const carriedOut = await partOf(item, () => carryOut(own, row, range, item, sessionsIn));
    if (carriedOut === undefined) countFailed(row, `${item}: internal error. The platform has logged the cause.`);
    written += carriedOut ?? 1;
  }
  const isOver = written < MAX_WRITTEN && found.length < MAX_SCANNED;
  if (isOver) end(row, "succeeded", context.now);
  await bulkOperationRows.update(tx, row);
  return !isOver;
}

/** Retries or replays one object, unless it does not belong to the operation. Returns how many rows that wrote. */
async function carryOut(
  context: RequestContext,
  row: BulkOperationRow,
  range: BulkRange,
  item: string,
  sessionsIn: Sessions,
): Promise<number> {
  const { endpointId, status, isMissed } = range;
  let written = 1;
  try {
    if (row.type === "deliveries.retry") await retryDelivery(context, item, sessionsIn);
    else {
      let receivers = endpointId === undefined ? undefined : [endpointId];
      if (status !== undefined || isMissed) {
        const selected = await deliveriesOfEvent(context.tx, range, item);
        if (isMissed && selected.length > 0) return 0;
        if (status !== undefined && !selected.some((one) => one.status === status)) return 0;
        // A later delivery counts: an event that a replay has delivered since is not sent again.
        const latest = new Map(selected.map((one) => [one.receiver, one.status]));
        if (!isMissed) receivers = [...latest].filter(([, current]) => current === status).map(([id]) => id);
      }
      if (receivers?.length === 0) return 0;
      const endpoints = receivers?.filter((id) => id !== "listeners");
      written += (await replayEvent(context, item, endpoints)).deliveries.length;
    }
    row.done += 1;
  } catch (error) {
    if (!(error instanceof ApiError || error instanceof DamagedEventError)) throw error;
    countFailed(row, error.message);
  }
  return written;
}

function countFailed(row: BulkOperationRow, reason: string): void {
  row.failed += 1;
  row.last_error = reason;
}

function end(row: BulkOperationRow, status: "succeeded" | "canceled", at: number): void {
  row.status = status;
  row.ended_at = at;
  // An object that matched at first may have changed since.
  if (status === "succeeded") row.total = row.done + row.failed;
}

function rangeOf(row: BulkOperationRow): BulkRange {
  const { endpoint, type, status, listeners, subscriptions } = JSON.parse(row.filters) as StoredFilters;
  const named = type === undefined || type === "*" ? undefined : typesOfSubscription(type);
  return {
    environment: row.environment,
    endpointId: endpoint,
    ofListeners: listeners === true,
    types:
      subscriptions === undefined
        ? named
        : (named ?? EVENT_TYPES).filter((one) => one !== PING && matchesSubscriptions(subscriptions, one)),
    isMissed: subscriptions !== undefined,
    status: status ?? (row.type === "deliveries.retry" ? "failed" : undefined),
    position: row.position,
    untilId: row.until_id,
  };
}

function toBulkOperation(row: BulkOperationRow, tenant: Tenant): BulkOperation {
  const { id, type, status, total, done, failed, last_error } = row;
  const filters = JSON.parse(row.filters) as BulkFilters;
  const { endpoint = null, type: of = null, missed = null, created_after = null, created_before = null } = filters;
  const range = { endpoint, type: of, status: rangeOf(row).status ?? null, missed, created_after, created_before };
  return {
    id,
    object: "bulk_operation",
    type,
    status,
    filters: range,
    total,
    done,
    failed,
    last_error,
    livemode: tenant.livemode,
    created: formatTimestamp(row.created),
    ended_at: row.ended_at === null ? null : formatTimestamp(row.ended_at),
  };
}
