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

/** The ids of events older than a bound that no pending delivery still needs, oldest first. */
export async function removableEvents(queries: Queries, environment: number, idBound: string, limit: number) {
  const rows = await queries.all<{ id: string }>(
    `SELECT e.id FROM events e
     WHERE e.environment = $1 AND e.id < $2 AND NOT EXISTS (
       SELECT 1 FROM deliveries d
       WHERE d.environment = e.environment AND d.event_id = e.id AND d.status = 'pending')
     ORDER BY e.id LIMIT $3`,
    [environment, idBound, limit],
  );
  return rows.map(({ id }) => id);
}

export async function deleteEvents(tx: Transaction, environment: number, ids: readonly string[]): Promise<void> {
  for (const id of ids) await tx.run("DELETE FROM events WHERE environment = $1 AND id = $2", [environment, id]);
}
