import type { EventType } from "../../contract/event-types.ts";
import type { Queries, Transaction } from "./database.ts";
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

const COLUMNS = "environment, id, type, object_id, created, body";

export async function insertEvent(tx: Transaction, row: EventRow): Promise<void> {
  takePlace(tx);
  await tx.run(`INSERT INTO events (${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6)`, [
    row.environment,
    row.id,
    row.type,
    row.object_id,
    row.created,
    row.body,
  ]);
}

export function findEvent(queries: Queries, environment: number, id: string): Promise<EventRow | undefined> {
  return queries.get(`SELECT ${COLUMNS} FROM events WHERE environment = $1 AND id = $2`, [environment, id]);
}

/** Newest first. `types` undefined means every type; several are merged from one index range each. */
export function listEvents(
  queries: Queries,
  page: PageRequest,
  filters: { types: readonly EventType[] | undefined; objectId: string | undefined },
): Promise<EventRow[]> {
  const byObject = { object_id: filters.objectId };
  if (filters.types === undefined) return readPage(queries, "events", COLUMNS, page, byObject);
  const alternatives = filters.types.map((type) => ({ type }));
  return readMergedPage(queries, "events", COLUMNS, page, byObject, alternatives);
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
