import type { EventType } from "../../contract/event-types.ts";
import type { Queries, Transaction } from "./database.ts";
import { checksumOf, DamagedEventError, isIntact, type StoredBody } from "./event-body.ts";
import { takePlace } from "./event-log.ts";
import { type PageRequest, readMergedPage, readPage } from "./page.ts";

export interface EventRow {
  environment: number;
  id: string;
  type: EventType;
  object_id: string | null;
  created: number;
  /** The envelope's JSON, made once: every delivery, replay and relay sends these bytes. */
  body: string;
}

const COLUMNS = "environment, id, type, object_id, created, body, body_checksum";

export async function insertEvent(tx: Transaction, row: EventRow): Promise<void> {
  takePlace(tx);
  await tx.run(`INSERT INTO events (${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7)`, [
    row.environment,
    row.id,
    row.type,
    row.object_id,
    row.created,
    row.body,
    checksumOf(row.body),
  ]);
}

function assertIntact(row: EventRow & StoredBody): EventRow {
  if (!isIntact(row)) throw new DamagedEventError(row.id);
  return row;
}

/** Throws DamagedEventError. */
export async function findEvent(queries: Queries, environment: number, id: string): Promise<EventRow | undefined> {
  const sql = `SELECT ${COLUMNS} FROM events WHERE environment = $1 AND id = $2`;
  const row = await queries.get<EventRow & StoredBody>(sql, [environment, id]);
  return row && assertIntact(row);
}

/**
 * As `findEvent`, and keeps the event from being deleted until the transaction ends: for adding a delivery of it that is
 * pending. Throws DamagedEventError.
 */
export async function findEventToDeliver(
  tx: Transaction,
  environment: number,
  id: string,
): Promise<EventRow | undefined> {
  const lock = tx.dialect === "postgres" ? "FOR KEY SHARE" : "";
  const sql = `SELECT ${COLUMNS} FROM events WHERE environment = $1 AND id = $2 ${lock}`;
  const row = await tx.get<EventRow & StoredBody>(sql, [environment, id]);
  return row && assertIntact(row);
}

/** Statements of few lengths only: each length is one more to prepare. */
const BATCHES = [16, 4, 1];

/** The bodies of those events that exist, as bytes; undefined for one that is damaged. */
export async function readEventBodies(
  queries: Queries,
  environment: number,
  ids: readonly string[],
): Promise<Map<string, Buffer | undefined>> {
  const bodies = new Map<string, Buffer | undefined>();
  let start = 0;
  for (const size of BATCHES) {
    for (; ids.length - start >= size; start += size) {
      const batch = ids.slice(start, start + size);
      const places = batch.map((_, index) => `$${index + 2}`).join(", ");
      const rows = await queries.all<StoredBody & { id: string }>(
        `SELECT id, body, body_checksum FROM events WHERE environment = $1 AND id IN (${places})`,
        [environment, ...batch],
      );
      for (const row of rows) bodies.set(row.id, isIntact(row) ? Buffer.from(row.body) : undefined);
    }
  }
  return bodies;
}

/**
 * Newest first. `types` undefined means every type; several are merged from one index range each. Throws
 * DamagedEventError: a page without the event would hide that one is lost.
 */
export async function listEvents(
  queries: Queries,
  page: PageRequest,
  filters: { types: readonly EventType[] | undefined; objectId: string | undefined },
): Promise<EventRow[]> {
  const byObject = { object_id: filters.objectId };
  const alternatives = filters.types?.map((type) => ({ type }));
  const rows = await (alternatives === undefined
    ? readPage<EventRow & StoredBody>(queries, "events", COLUMNS, page, byObject)
    : readMergedPage<EventRow & StoredBody>(queries, "events", COLUMNS, page, byObject, alternatives));
  // The row after the page is not shown.
  for (const row of rows.slice(0, page.limit)) assertIntact(row);
  return rows;
}

const NOT_PENDING = `NOT EXISTS (
  SELECT 1 FROM deliveries d WHERE d.environment = e.environment AND d.event_id = e.id AND d.status = 'pending')`;

/**
 * The ids of events older than a bound that no pending delivery still needs, oldest first. On PostgreSQL they are locked,
 * without those that are being kept.
 */
export async function removableEvents(tx: Transaction, environment: number, idBound: string, limit: number) {
  const lock = tx.dialect === "postgres" ? "FOR UPDATE OF e SKIP LOCKED" : "";
  const rows = await tx.all<{ id: string }>(
    `SELECT e.id FROM events e WHERE e.environment = $1 AND e.id < $2 AND ${NOT_PENDING}
     ORDER BY e.id LIMIT $3 ${lock}`,
    [environment, idBound, limit],
  );
  return rows.map(({ id }) => id);
}

/**
 * Deletes those events that no pending delivery needs by now: a transaction that kept them may have added one. Returns
 * the ids of the deleted ones.
 */
export async function deleteEvents(tx: Transaction, environment: number, ids: readonly string[]): Promise<string[]> {
  const sql = `DELETE FROM events AS e WHERE e.environment = $1 AND e.id = $2 AND ${NOT_PENDING}`;
  const deleted = await Promise.all(ids.map((id) => tx.run(sql, [environment, id])));
  return ids.filter((_, index) => deleted[index] === 1);
}
