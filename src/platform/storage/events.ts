import { EVENT_TYPES, type EventType } from "../../contract/event-types.ts";
import { inBatches, insertRows } from "./batches.ts";
import { locking, type Queries, type SqlValue, type Transaction } from "./database.ts";
import {
  checksumOf,
  DamagedEventError,
  isIntact,
  LISTED_BODY,
  type ListedBody,
  openBody,
  SMALL_BYTES,
  type StoredBody,
} from "./event-body.ts";
import { type Addressee, extremeSeq, firstDisorderedId, HORIZON, lastDisorderedId, takePosition } from "./event-log.ts";
import type { PageRequest } from "./page.ts";

export interface EventRow {
  environment: number;
  id: string;
  type: EventType;
  object_id: string | null;
  created: number;
  /** The envelope's JSON, created once: every delivery, replay and relay sends these bytes. */
  body: string;
}

const NAMES = ["environment", "id", "type", "object_id", "created", "body", "body_checksum"] as const;
const COLUMNS = NAMES.join(", ");
const insertEvents = insertRows<EventRow & StoredBody & { trace: string | null }>("events", [...NAMES, "trace"]);
const LISTED = `environment, id, type, object_id, created, ${LISTED_BODY}`;

/** An event in a list: `openEvent` completes it. */
export type EventListRow = Omit<EventRow, "body"> & ListedBody & { seq: number };
export type OpenedEvent = EventListRow & EventRow & { isDamaged: boolean };

/** `trace` is that of the request which causes the event. */
export async function insertEvent(tx: Transaction, row: EventRow, trace: string | null = null): Promise<void> {
  takePosition(tx);
  await insertEvents(tx, [{ ...row, body_checksum: checksumOf(row.body), trace }]);
}

/** Returns an event of a list with its body; undefined if it has been removed meanwhile. */
export async function openEvent(queries: Queries, row: EventListRow): Promise<OpenedEvent | undefined> {
  const opened = await openBody(queries, row.environment, row);
  return opened && { ...row, ...opened };
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

/** Returns the same as `findEvent`, and keeps the event from being deleted until the transaction ends. */
export async function findEventToDeliver(tx: Transaction, environment: number, id: string) {
  const lock = locking(tx, "FOR KEY SHARE");
  const sql = `SELECT ${COLUMNS} FROM events WHERE environment = $1 AND id = $2 ${lock}`;
  const row = await tx.get<EventRow & StoredBody>(sql, [environment, id]);
  return row && assertIntact(row);
}

/** Returns the bodies of the events that exist, as bytes; undefined for a damaged one. */
export async function readEventBodies(queries: Queries, environment: number, ids: readonly string[]) {
  const bodies = await inBatches(ids, async (list, batch) => {
    const rows = await queries.all<StoredBody & { id: string }>(
      `SELECT id, body, body_checksum FROM events WHERE id IN (${list}) AND environment = $${batch.length + 1}`,
      [...batch, environment],
    );
    return rows.map((row) => [row.id, isIntact(row) ? Buffer.from(row.body) : undefined] as const);
  });
  return new Map(bodies);
}

/** Returns the bodies of those of some events that exist, are intact and not large. */
export async function readSmallBodies(queries: Queries, environment: number, ids: readonly string[]) {
  const rows = await inBatches(ids, (list, batch) =>
    queries.all<StoredBody & { id: string }>(
      `SELECT id, body, body_checksum FROM events
       WHERE id IN (${list}) AND environment = $${batch.length + 1} AND octet_length(body) <= ${SMALL_BYTES}`,
      [...batch, environment],
    ),
  );
  return new Map(rows.filter(isIntact).map(({ id, body }) => [id, body]));
}

/** Returns the types with events, that of the newest first, each with the time of its newest: one index lookup per type. */
export async function newestOfTypes(queries: Queries, environment: number) {
  const types = EVENT_TYPES.map((_, index) => `($${index + 2})`).join(", ");
  const rows = await queries.all<Pick<EventRow, "type" | "created"> & { seq: number }>(
    `SELECT e.seq, e.type, e.created FROM (VALUES ${types}) AS types
     JOIN events e ON e.seq = (
       SELECT n.seq FROM events n WHERE n.environment = $1 AND n.type = types.column1 ORDER BY n.seq DESC LIMIT 1)`,
    [environment, ...EVENT_TYPES],
  );
  return rows.toSorted((a, b) => b.seq - a.seq);
}

export interface EventPage {
  rows: EventListRow[];
  /** The number of the newest matching event that is held back; 0 if there is none. */
  heldBack: number;
  horizon: number;
}

/**
 * Lists events in the order of the log up to its horizon, so that none appears later below one that was listed. The
 * page's position is the number of the last one seen. `types` undefined means every type, `objectIds` every object;
 * several are merged from one index range each.
 */
export async function listEvents(
  queries: Queries,
  page: PageRequest,
  filters: { types: readonly EventType[] | undefined; objectIds: readonly string[] | undefined },
): Promise<EventPage> {
  const { environment, position, before, from, limit } = page;
  const parameters: SqlValue[] = [environment];
  const parameter = (value: SqlValue) => `$${parameters.push(value)}`;
  const objects = filters.objectIds?.map((id) => `object_id = ${parameter(id)}`);
  const range: string[] = [];
  const ends = ["horizon"];
  if (position !== undefined) ends.push(parameter(Number(position)));
  const bounds: string[] = [];
  if (from !== undefined) {
    const last = parameter(await lastDisorderedId(queries, environment, from));
    const bound = parameter(from);
    range.push(`id >= ${bound}`, "seq >= (SELECT lowest FROM log)");
    bounds.push(`(${extremeSeq("MIN", `id >= ${bound} AND id <= ${last}`)}) AS lowest`);
  }
  if (before !== undefined) {
    const first = parameter(await firstDisorderedId(queries, environment, before));
    const bound = parameter(before);
    range.push(`id < ${bound}`, "seq <= (SELECT highest FROM log)");
    ends.push("highest + 1");
    bounds.push(`(${extremeSeq("MAX", `id >= ${first} AND id < ${bound}`)}) AS highest`);
  }
  // One bound: of several, SQLite uses one for the index and compares the others row by row.
  const least = queries.dialect === "sqlite" ? "MIN" : "LEAST";
  range.push(`seq < (SELECT ${ends.length === 1 ? ends[0]! : `${least}(${ends.join(", ")})`} FROM log)`);
  const types = filters.types?.map((type) => `type = ${parameter(type)}`);
  const rowLimit = parameter(limit + 1);
  const index = objects !== undefined ? "object" : types === undefined ? "seq" : "type";
  // Between two bounds SQLite considers the index of all events as good as that of the matching ones.
  const indexed = queries.dialect === "sqlite" ? `events INDEXED BY events_by_${index}` : "events";
  const anyOf = (conditions: readonly string[] | undefined) =>
    conditions === undefined ? [] : [`(${conditions.join(" OR ")})`];
  // An object has few events.
  const each = objects?.map((object) => [object, ...anyOf(types)]) ?? types?.map((type) => [type]) ?? [[]];
  const ranges = each.map((own) => {
    const conditions = ["environment = $1", ...own, ...range].join(" AND ");
    const page = `SELECT seq, ${LISTED} FROM ${indexed} WHERE ${conditions} ORDER BY seq DESC LIMIT ${rowLimit}`;
    return `SELECT * FROM (${page}) AS one`;
  });
  const held = ["environment = $1", ...anyOf(objects), ...anyOf(types), "seq >= (SELECT horizon FROM log)"].join(
    " AND ",
  );
  type Row = Omit<EventListRow, "seq"> & { seq: number | null; horizon: number; held_back: number | null };
  const found = await queries.all<Row>(
    `WITH log AS (SELECT ${[`${HORIZON[queries.dialect]} AS horizon`, ...bounds].join(", ")}),
     state AS (SELECT horizon, (SELECT MAX(seq) FROM events WHERE ${held}) AS held_back FROM log)
     SELECT state.*, page.* FROM state LEFT JOIN (
       ${ranges.join(" UNION ALL ")} ORDER BY seq DESC LIMIT ${rowLimit}) AS page ON 1 = 1
     ORDER BY seq DESC`,
    parameters,
  );
  const { horizon, held_back: heldBack } = found[0]!;
  // If there is no event on the page, the row contains only the state.
  const rows = found.filter((row): row is Row & { seq: number } => row.seq !== null);
  return { rows, heldBack: heldBack ?? 0, horizon };
}

export function newestEventsOf(queries: Queries, environment: number, objectId: string, limit: number) {
  const sql = `SELECT seq, ${LISTED} FROM events WHERE environment = $1 AND object_id = $2 ORDER BY seq DESC LIMIT $3`;
  return queries.all<EventListRow>(sql, [environment, objectId, limit]);
}

const NOT_PENDING = `NOT EXISTS (
  SELECT 1 FROM deliveries d WHERE d.environment = e.environment AND d.event_id = e.id AND d.status = 'pending')`;

/** Returns the last of an environment's next events after an ID and below another; undefined if there are none. */
export async function lastOfNextEvents(
  queries: Queries,
  environment: number,
  { after, idBound }: { after: string; idBound: string },
  limit: number,
): Promise<string | undefined> {
  const row = await queries.get<{ id: string | null }>(
    `SELECT MAX(id) AS id FROM (
       SELECT id FROM events WHERE environment = $1 AND id > $2 AND id < $3 ORDER BY id LIMIT $4) AS next`,
    [environment, after, idBound, limit],
  );
  return row?.id ?? undefined;
}

/** Returns events in a range of IDs that no pending delivery needs; locked on PostgreSQL, unless others keep them. */
export async function removableEvents(tx: Transaction, environment: number, after: string, last: string) {
  const lock = locking(tx, "FOR UPDATE OF e SKIP LOCKED");
  return tx.all<{ id: string; seq: number }>(
    `SELECT e.id, e.seq FROM events e WHERE e.environment = $1 AND e.id > $2 AND e.id <= $3 AND ${NOT_PENDING}
     ORDER BY e.id ${lock}`,
    [environment, after, last],
  );
}

/**
 * Deletes those events that no pending delivery needs: a transaction that kept them may have added one. Returns the IDs
 * of the deleted ones.
 */
export async function deleteEvents(tx: Transaction, environment: number, ids: readonly string[]): Promise<string[]> {
  const deleted = await inBatches(ids, (list, batch) =>
    tx.all<{ id: string }>(
      `DELETE FROM events AS e
       WHERE e.environment = $${batch.length + 1} AND e.id IN (${list}) AND ${NOT_PENDING} RETURNING id`,
      [...batch, environment],
    ),
  );
  const gone = new Set(deleted.map(({ id }) => id));
  return ids.filter((id) => gone.has(id));
}

/** The number that a replay follows: in an SQLite file the last event's, in PostgreSQL any lower number. */
const END: Record<Queries["dialect"], string> = {
  sqlite: "SELECT NULL AS number, COALESCE(MAX(seq), 0) AS after_seq FROM events WHERE environment = $1",
  postgres: "SELECT position AS number, position AS after_seq FROM (SELECT log_position() AS position) AS log",
};

/** Adds a replay at the end of the log: for everyone, or for some sessions of `service listen`. */
export async function insertReplay(
  tx: Transaction,
  replay: { environment: number; id: string; eventId: string; eventType: EventType; addressee?: Addressee | undefined },
): Promise<void> {
  const { listener = null, target = null } = replay.addressee ?? {};
  takePosition(tx);
  await tx.run(
    `INSERT INTO replays (number, environment, id, event_id, event_type, listener_id, target, after_seq)
     SELECT number, $1, $2, $3, $4, $5, $6, after_seq FROM (${END[tx.dialect]}) AS log_end`,
    [replay.environment, replay.id, replay.eventId, replay.eventType, listener, target],
  );
}

/** Removes replays whose ID is below a bound, oldest first. Returns their numbers. */
export async function deleteReplays(tx: Transaction, environment: number, idBound: string, limit: number) {
  const replays = await tx.all<{ number: number }>(
    "SELECT number FROM replays WHERE environment = $1 AND id < $2 ORDER BY id LIMIT $3",
    [environment, idBound, limit],
  );
  return deleteByNumber(tx, replays);
}

/** Removes the replays of deleted events, among those with IDs from the first to the last. Returns their numbers. */
export async function deleteReplaysOf(tx: Transaction, environment: number, events: { first: string; last: string }) {
  const replays = await tx.all<{ number: number }>(
    `SELECT number FROM replays r WHERE environment = $1 AND event_id >= $2 AND event_id <= $3
       AND NOT EXISTS (SELECT 1 FROM events e WHERE e.environment = r.environment AND e.id = r.event_id)`,
    [environment, events.first, events.last],
  );
  return deleteByNumber(tx, replays);
}

async function deleteByNumber(tx: Transaction, replays: readonly { number: number }[]): Promise<number[]> {
  for (const { number } of replays) await tx.run("DELETE FROM replays WHERE number = $1", [number]);
  return replays.map(({ number }) => number);
}
