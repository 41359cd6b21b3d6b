import type { EventType } from "../../contract/event-types.ts";
import type { Queries, Transaction } from "./database.ts";
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

/** An event at its place in the log: `seq` grows in the order in which events became visible. */
export interface LoggedEvent {
  seq: number;
  id: string;
  type: EventType;
  body: string;
}

const COLUMNS = "environment, id, type, object_id, created, body";

export async function insertEvent(tx: Transaction, row: EventRow): Promise<void> {
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
  return readMergedPage(queries, "events", COLUMNS, page, byObject, { column: "type", values: filters.types });
}

/** The log behind a place, oldest first, of the given types. */
export function readLog(
  queries: Queries,
  environment: number,
  behind: number,
  types: readonly EventType[],
  limit: number,
): Promise<LoggedEvent[]> {
  const places = types.map((_, i) => `$${i + 4}`).join(", ");
  return queries.all(
    `SELECT seq, id, type, body FROM events WHERE environment = $1 AND seq > $2 AND type IN (${places})
     ORDER BY seq LIMIT $3`,
    [environment, behind, limit, ...types],
  );
}

/** The newest place in an environment's log: undefined where it is empty. */
export function newestInLog(queries: Queries, environment: number) {
  return queries.get<{ seq: number; id: string }>(
    "SELECT seq, id FROM events WHERE environment = $1 ORDER BY seq DESC LIMIT 1",
    [environment],
  );
}

/** The place of an event in the log. */
export function placeInLog(queries: Queries, environment: number, id: string) {
  return queries.get<{ seq: number }>("SELECT seq FROM events WHERE environment = $1 AND id = $2", [environment, id]);
}

/** The oldest kept event whose id is at or above a bound. */
export function oldestInLogFrom(queries: Queries, environment: number, idBound: string) {
  return queries.get<{ seq: number; id: string }>(
    "SELECT seq, id FROM events WHERE environment = $1 AND id >= $2 ORDER BY id LIMIT 1",
    [environment, idBound],
  );
}
