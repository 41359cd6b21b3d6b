import type { StatusOf } from "../../contract/resources.ts";
import type { BulkType } from "../../contract/schemas/bulk-operation.ts";
import type { DeliveryStatus } from "../../contract/schemas/delivery.ts";
import { deleteFirst } from "./batches.ts";
import type { Queries, SqlValue, Transaction } from "./database.ts";
import { rowsOf } from "./page.ts";

export interface BulkOperationRow {
  environment: number;
  id: string;
  type: BulkType;
  status: StatusOf<"bulk_operation">;
  /** The request's filters, as JSON. */
  filters: string;
  request_id: string | null;
  total: number;
  done: number;
  failed: number;
  last_error: string | null;
  /** Objects with IDs up to this one are finished. */
  position: string;
  /** Objects with IDs from this one on do not belong to the operation. */
  until_id: string;
  created: number;
  ended_at: number | null;
}

export const bulkOperationRows = rowsOf<BulkOperationRow>(
  "bulk_operations",
  `environment, id, type, status, filters, request_id, total, done, failed, last_error, position, until_id, created,
   ended_at`,
  ["status", "total", "done", "failed", "last_error", "position", "ended_at"],
);

/** The running operations of all environments, oldest first. */
export function runningBulkOperations(queries: Queries) {
  return queries.all<{ environment: number; id: string }>(
    "SELECT environment, id FROM bulk_operations WHERE status = 'running' ORDER BY id",
  );
}

/** Removes operations that have ended and whose ID is below a bound. Returns how many. */
export function deleteBulkOperations(tx: Transaction, environment: number, idBound: string, limit: number) {
  const where = "environment = $1 AND id < $2 AND status <> 'running'";
  return deleteFirst(tx, { table: "bulk_operations", key: "environment, id", where }, [environment, idBound], limit);
}

/** Selects the objects of an operation. */
export interface BulkRange {
  environment: number;
  endpointId: string | undefined;
  /** Whether it includes deliveries to listeners. */
  ofListeners: boolean;
  /** The event types to select; undefined for all. */
  types: readonly string[] | undefined;
  /** Status of deliveries; undefined for events with any deliveries or none. */
  status: DeliveryStatus | undefined;
  /** True for only those events of which the endpoint has no delivery. */
  isMissed: boolean;
  /** Objects with IDs after this one. */
  position: string;
  untilId: string;
}

type BulkItem = Record<"id" | "type", string>;

/** Returns deliveries in the order of their IDs, whatever their type. */
export function nextDeliveries(queries: Queries, range: BulkRange, limit: number): Promise<BulkItem[]> {
  const { conditions, parameters } = ofDeliveries(range, "id");
  const sql = `SELECT id, event_type AS type FROM deliveries WHERE ${conditions.join(" AND ")}`;
  return queries.all(`${sql} ORDER BY id LIMIT $${parameters.push(limit)}`, parameters);
}

/** Returns events in the order of their IDs, whatever their type and deliveries. */
export function nextEvents(queries: Queries, range: BulkRange, limit: number): Promise<BulkItem[]> {
  const { where, parameters } = ofEvents(range);
  const sql = `SELECT id, type FROM events WHERE ${where} ORDER BY id LIMIT $${parameters.push(limit)}`;
  return queries.all(sql, parameters);
}

/** An endpoint does not get events about itself, so it does not miss them. */
function ofEvents({ environment, position, untilId, isMissed, endpointId }: BulkRange) {
  const parameters: SqlValue[] = [environment, position, untilId];
  const own = isMissed ? ` AND (object_id IS NULL OR object_id <> $${parameters.push(endpointId!)})` : "";
  return { where: `environment = $1 AND id > $2 AND id < $3${own}`, parameters };
}

/** Counts deliveries, or the events of deliveries. */
export async function countDeliveries(queries: Queries, range: BulkRange, key: "id" | "event_id" = "id") {
  const { conditions, parameters } = ofDeliveries(range, key);
  const where = [...conditions, ...amongTypes("event_type", range.types, parameters)].join(" AND ");
  const counted = key === "id" ? "*" : "DISTINCT event_id";
  return countOf(queries, `SELECT COUNT(${counted}) AS count FROM deliveries WHERE ${where}`, parameters);
}

export async function countEvents(queries: Queries, range: BulkRange): Promise<number> {
  if (range.status !== undefined) return countDeliveries(queries, range, "event_id");
  const { where: all, parameters } = ofEvents(range);
  const conditions = [all, ...amongTypes("type", range.types, parameters)];
  if (range.isMissed) {
    conditions.push(`NOT EXISTS (SELECT 1 FROM deliveries d
      WHERE d.environment = $1 AND d.event_id = events.id AND d.endpoint_id = $${parameters.push(range.endpointId!)})`);
  }
  const where = conditions.join(" AND ");
  return countOf(queries, `SELECT COUNT(*) AS count FROM events WHERE ${where}`, parameters);
}

/** An event's deliveries to the receivers of an operation, oldest first. `receiver` is `listeners` for all of these. */
export function deliveriesOfEvent(queries: Queries, range: BulkRange, eventId: string) {
  const parameters: SqlValue[] = [range.environment, eventId];
  return queries.all<{ receiver: string; status: DeliveryStatus }>(
    `SELECT COALESCE(endpoint_id, 'listeners') AS receiver, status FROM deliveries
     WHERE environment = $1 AND event_id = $2 AND ${toReceivers(range, parameters, "event_id")} ORDER BY id`,
    parameters,
  );
}

function ofDeliveries(range: BulkRange, bound: "id" | "event_id") {
  const { environment, status = "", position, untilId } = range;
  const parameters: SqlValue[] = [environment, status, position, untilId];
  const base = `environment = $1 AND status = $2 AND ${bound} > $3 AND ${bound} < $4`;
  return { conditions: [base, toReceivers(range, parameters, bound)], parameters };
}

/**
 * Selects what was sent to the endpoint, or to any. A replay goes to all listeners, so of the deliveries of an event to
 * these only the last counts.
 */
function toReceivers({ endpointId, ofListeners }: BulkRange, parameters: SqlValue[], of: "id" | "event_id"): string {
  if (endpointId !== undefined) return `endpoint_id = $${parameters.push(endpointId)}`;
  if (!ofListeners) return "endpoint_id IS NOT NULL";
  if (of === "id") return "1 = 1";
  return `(endpoint_id IS NOT NULL OR NOT EXISTS (
    SELECT 1 FROM deliveries later WHERE later.environment = deliveries.environment
    AND later.event_id = deliveries.event_id AND later.id > deliveries.id AND later.endpoint_id IS NULL))`;
}

function amongTypes(column: string, types: readonly string[] | undefined, parameters: SqlValue[]): string[] {
  if (types?.length === 0) return ["1 = 0"];
  return types === undefined ? [] : [`${column} IN (${types.map((type) => `$${parameters.push(type)}`).join(", ")})`];
}

async function countOf(queries: Queries, sql: string, parameters: SqlValue[]): Promise<number> {
  return (await queries.get<{ count: number }>(sql, parameters))?.count ?? 0;
}
