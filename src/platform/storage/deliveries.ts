import { LIMITS } from "../../contract/limits.ts";
import { statusesOf } from "../../contract/resources.ts";
import type { DeliveryStatus } from "../../contract/schemas/delivery.ts";
import { inBatches, insertRows } from "./batches.ts";
import { changesRow, type Queries, type Transaction } from "./database.ts";
import type { Addressee } from "./event-log.ts";
import { type PageRequest, readMergedPage } from "./page.ts";

/** Times are the environment's own. */
export interface DeliveryRow {
  id: string;
  environment: number;
  event_id: string;
  event_type: string;
  endpoint_id: string | null;
  listener_id: string | null;
  /** The URL that the listener forwarded to, if it has said so. */
  target: string | null;
  status: DeliveryStatus;
  attempt_count: number;
  /** When the next attempt is due; null once the delivery has succeeded or failed. */
  next_attempt: number | null;
  created: number;
}

/** A delivery for display, with its last attempt. Whether its endpoint is enabled decides whether there is a next one. */
export interface ShownDelivery extends DeliveryRow {
  endpoint_status: "enabled" | "disabled" | null;
  last_status_code: number | null;
  last_error: string | null;
  last_at: number | null;
  /** When the attempt in progress began. */
  begun_at: number | null;
}

const NAMES = [
  "id",
  "environment",
  "event_id",
  "event_type",
  "endpoint_id",
  "listener_id",
  "target",
  "status",
  "attempt_count",
  "next_attempt",
  "created",
] as const satisfies (keyof DeliveryRow)[];
const COLUMNS = NAMES.join(", ");
const ofLastAttempt = (column: string) => `(SELECT a.${column} FROM attempts a
  WHERE a.delivery_id = deliveries.id AND a.number = deliveries.attempt_count) AS last_${column}`;
const SHOWN = `${COLUMNS}, begun_at, ${ofLastAttempt("status_code")}, ${ofLastAttempt("error")}, ${ofLastAttempt("at")}, (SELECT w.status FROM webhook_endpoints w WHERE w.environment = deliveries.environment
                            AND w.id = deliveries.endpoint_id) AS endpoint_status`;

export const insertDeliveries = insertRows<DeliveryRow>("deliveries", NAMES);

export function findDelivery(queries: Queries, environment: number, id: string): Promise<ShownDelivery | undefined> {
  return queries.get(`SELECT ${SHOWN} FROM deliveries WHERE id = $2 AND environment = $1`, [environment, id]);
}

/** Returns a delivery and its attempts, oldest first, in one statement: between two, one may be recorded. */
export async function findDeliveryWithAttempts(queries: Queries, environment: number, id: string) {
  const rows = await queries.all<ShownDelivery & (ShownAttempt | { number: null })>(
    `SELECT shown.*, ${[...ATTEMPT_COLUMNS, "injected"].map((name) => `a.${name}`).join(", ")}
     FROM (SELECT ${SHOWN} FROM deliveries WHERE id = $2 AND environment = $1) AS shown
     LEFT JOIN attempts a ON a.delivery_id = shown.id ORDER BY a.number`,
    [environment, id],
  );
  const [delivery] = rows;
  return delivery && { delivery, attempts: rows.filter((row) => row.number !== null) };
}

export interface DeliveryFilters {
  endpointId: string | undefined;
  /** Any of these events. */
  eventIds: readonly string[] | undefined;
  /** Any of these. */
  statuses: readonly DeliveryStatus[] | undefined;
}

/** Newest first. Every index ends in the ID, so a page costs what it holds: the statuses are merged. */
export function listDeliveries(queries: Queries, page: PageRequest, filters: DeliveryFilters) {
  const { endpointId, eventIds, statuses } = filters;
  if (eventIds !== undefined) {
    // An event has few deliveries. The rest is wrapped to keep the planner from choosing another index, which may hold
    // many.
    const rest = { "COALESCE(endpoint_id, '')": endpointId };
    const each = [...new Set(eventIds)].flatMap((id) =>
      (statuses ?? [undefined]).map((status) => ({ event_id: id, "COALESCE(status, '')": status })),
    );
    return readMergedPage<ShownDelivery>(queries, "deliveries", SHOWN, page, rest, each);
  }
  const alternatives = (statuses ?? statusesOf("delivery")).map((status) => ({ status }));
  return readMergedPage<ShownDelivery>(queries, "deliveries", SHOWN, page, { endpoint_id: endpointId }, alternatives);
}

/**
 * Returns the endpoints that exist, or one, newest first, each with its newest delivery, which is one index lookup per
 * status, and the number of its failed deliveries.
 */
export function newestDeliveries(queries: Queries, environment: number, endpoint: string | undefined) {
  const newest = statusesOf("delivery").map(
    (status) =>
      `SELECT MAX(d.id) AS id FROM deliveries d
       WHERE d.environment = w.environment AND d.endpoint_id = w.id AND d.status = '${status}'`,
  );
  return queries.all<{ id: string; delivery: string | null; failed: number }>(
    `SELECT w.id, (SELECT MAX(id) FROM (${newest.join(" UNION ALL ")}) AS newest) AS delivery,
       (SELECT COUNT(*) FROM (
          SELECT 1 FROM deliveries d
          WHERE d.environment = w.environment AND d.endpoint_id = w.id AND d.status = 'failed'
          LIMIT ${LIMITS.maxCountedFailed}) AS failures) AS failed
     FROM webhook_endpoints w WHERE w.environment = $1 ${endpoint === undefined ? "" : "AND w.id = $2"}
     ORDER BY w.id DESC`,
    endpoint === undefined ? [environment] : [environment, endpoint],
  );
}

/** Returns how many deliveries failed, and how many of these were to listeners. */
export async function countFailed(queries: Queries, environment: number) {
  const row = await queries.get<{ failed: number; listeners: number }>(
    `SELECT COUNT(*) AS failed, COUNT(*) - COUNT(endpoint_id) AS listeners FROM (
       SELECT endpoint_id FROM deliveries WHERE environment = $1 AND status = 'failed'
       ORDER BY id DESC LIMIT ${LIMITS.maxCountedFailed}) AS newest`,
    [environment],
  );
  return { failed_deliveries: row!.failed, failed_listener_deliveries: row!.listeners };
}

/**
 * Puts a delivery back into the queue, due at a time. If it had ended, its 3 days of retries start again. The due time
 * of a pending delivery always changes, so that an attempt in flight notices the request.
 */
export async function requeueDelivery(tx: Transaction, row: ShownDelivery, dueAt: number): Promise<void> {
  await tx.run(
    `UPDATE deliveries
     SET first_attempt = CASE WHEN status = 'pending' THEN first_attempt END,
         status = 'pending', next_attempt = CASE WHEN next_attempt = $2 THEN next_attempt - 1 ELSE $2 END
     WHERE id = $1`,
    [row.id, dueAt],
  );
}

export interface ListenerDelivery extends Pick<
  DeliveryRow,
  "id" | "event_id" | "listener_id" | "target" | "status" | "attempt_count"
> {
  last_attempt_at: number | null;
}

/** Returns the deliveries of events to listeners that were recorded. */
export function findListenerDeliveries(
  queries: Queries,
  environment: number,
  eventIds: readonly string[],
): Promise<ListenerDelivery[]> {
  return inBatches(eventIds, (placeholders, batch) =>
    queries.all(
      `SELECT d.id, d.event_id, d.listener_id, d.target, d.status, d.attempt_count,
         (SELECT a.at FROM attempts a WHERE a.delivery_id = d.id AND a.number = d.attempt_count) AS last_attempt_at
       FROM deliveries d WHERE d.event_id IN (${placeholders})
         AND d.environment = $${batch.length + 1} AND d.listener_id IS NOT NULL`,
      [...batch, environment],
    ),
  );
}

/** Counts more attempts of a listener's delivery, with their outcome and the target that they were made to. */
export async function recordListenerOutcome(
  tx: Transaction,
  { id, status, target }: Pick<DeliveryRow, "id" | "status" | "target">,
  attempts: number,
) {
  const sql = "UPDATE deliveries SET status = $2, attempt_count = attempt_count + $3, target = $4 WHERE id = $1";
  await tx.run(sql, [id, status, attempts, target]);
}

/** Makes a delivery one to another target, because the application has moved there. */
export async function moveListenerDelivery(tx: Transaction, id: string, { listener, target }: Addressee) {
  await tx.run("UPDATE deliveries SET listener_id = $2, target = $3 WHERE id = $1", [id, listener, target]);
}

/** Ends a pending delivery. An attempt in flight is still recorded, and no other follows it. */
export function cancelDelivery(tx: Transaction, id: string): Promise<boolean> {
  const sql = "UPDATE deliveries SET status = 'canceled', next_attempt = NULL WHERE id = $1 AND status = 'pending'";
  return changesRow(tx, sql, [id]);
}

/** A delivery that was created before the retention period. `is_removable` is 0 if one of its attempts is more recent. */
export type OldDelivery = Pick<DeliveryRow, "id" | "attempt_count"> & { is_removable: number };

/** Where to look for old deliveries of a status: after an ID, below another. Their attempts are old if before a time. */
export interface OldDeliveries {
  environment: number;
  status: DeliveryStatus;
  after: string;
  idBound: string;
  before: number;
  limit: number;
}

/** Returns deliveries in the order of their IDs, whether or not they can be removed, so that a call reads few. */
export function findOldDeliveries(queries: Queries, old: OldDeliveries) {
  const { environment, status, after, idBound, before, limit } = old;
  return queries.all<OldDelivery>(
    `SELECT d.id, d.attempt_count, CAST(NOT EXISTS (
       SELECT 1 FROM attempts a WHERE a.delivery_id = d.id AND a.at >= $5) AS INTEGER) AS is_removable
     FROM deliveries d WHERE d.environment = $1 AND d.status = $2 AND d.id > $3 AND d.id < $4
     ORDER BY d.id LIMIT $6`,
    [environment, status, after, idBound, before, limit],
  );
}

/** Removes deliveries with their attempts. */
export async function deleteDeliveries(tx: Transaction, ids: readonly string[]): Promise<void> {
  await inBatches(ids, (list, batch) => tx.all(`DELETE FROM attempts WHERE delivery_id IN (${list})`, batch));
  await inBatches(ids, (list, batch) => tx.all(`DELETE FROM deliveries WHERE id IN (${list})`, batch));
}

export interface AttemptRow {
  delivery_id: string;
  /** 1 for the first. */
  number: number;
  at: number;
  status_code: number | null;
  error: string | null;
  duration_ms: number;
  /** JSON objects. */
  request_headers: string | null;
  response_headers: string | null;
  response_excerpt: string | null;
}

export const ATTEMPT_COLUMNS = [
  "delivery_id",
  "number",
  "at",
  "status_code",
  "error",
  "duration_ms",
  "request_headers",
  "response_headers",
  "response_excerpt",
] as const satisfies (keyof AttemptRow)[];

export interface ShownAttempt extends AttemptRow {
  /** Faults that a listener injected. */
  injected: string | null;
}

export const insertAttempts = insertRows<AttemptRow>("attempts", ATTEMPT_COLUMNS);

/** Records the faults that a listener injected, with its last attempt. */
export async function recordInjected(tx: Transaction, deliveryId: string, number: number, faults: string) {
  const sql = "UPDATE attempts SET injected = $3 WHERE delivery_id = $1 AND number = $2";
  await tx.run(sql, [deliveryId, number, faults]);
}

/** Returns true if a listener's attempt that began at this time is recorded. */
export async function hasListenerAttempt(
  queries: Queries,
  attempt: { environment: number; eventId: string; listenerId: string; at: number },
): Promise<boolean> {
  const row = await queries.get(
    `SELECT a.number FROM deliveries d JOIN attempts a ON a.delivery_id = d.id
     WHERE d.environment = $1 AND d.event_id = $2 AND d.listener_id = $3 AND a.at = $4`,
    [attempt.environment, attempt.eventId, attempt.listenerId, attempt.at],
  );
  return row !== undefined;
}

/** Makes a receiver's text storable: no column can hold a NUL character. */
export function storableText(text: string): string {
  return text.includes("\0") ? text.replaceAll("\0", "\u{fffd}") : text;
}
