import type { EventType } from "../../contract/event-types.ts";
import { lowestIdAt, timeOfId } from "../../contract/ids.ts";
import type { Database, Queries, SqlValue, Transaction } from "./database.ts";
import { IS_CURRENT } from "./environments.ts";
import { LISTED_BODY, type ListedBody } from "./event-body.ts";

/**
 * A position in the log that listeners read: every event of an environment in the order of commits, and between them
 * replays of earlier ones. `seq` numbers the events, `replay` the replays. Both only increase.
 */
export interface LogPosition extends LogNumbers {
  /** The event or replay at this position; undefined before the first one. */
  id: string | undefined;
}

/** Numbers of an event and of a replay; 0 if there is none. */
export interface LogNumbers {
  seq: number;
  replay: number;
}

/** The sessions of a listener that forward to a target; null for those that have not said where they forward. */
export interface Addressee {
  listener: string;
  target: string | null;
}

/** An event in the log, with its position. */
interface LogEntry {
  position: LogPosition;
  id: string;
  type: EventType;
  /** The ID of a replay's position; an event's own ID names its position. */
  replayId: string | undefined;
  /** Who gets it, if not everyone: it is the retry of a delivery. */
  addressee: Addressee | undefined;
}

export interface LoggedEvent extends LogEntry {
  body: string;
  /** True if the body differs from the one that was written: it must not be sent. */
  isDamaged: boolean;
}

/** The part of the log that can be read now. */
export interface LogPart {
  events: (LogEntry & ListedBody)[];
  /** True if there is more that may not be read yet. */
  heldBack: boolean;
  /** False if the log no longer has the position: this database lacks commits that an earlier one had. */
  isKnown: boolean;
  /** The last event and the last replay that may be read, of any type. */
  end: LogPosition;
  /** The highest numbers that retention has removed. */
  removed: LogNumbers;
}

/** A row of the log, or the row with its state. */
type ReadRow = EntryRow | { state: string };

interface EntryRow extends ListedBody {
  state: null;
  after_seq: number;
  number: number;
  type: EventType;
  /** The ID of a replay, followed by its addressee if it has one: each column costs time for each row. */
  replay: string | null;
}

/**
 * If several processes write, an event may become visible after one with a higher number. What is at or above the
 * horizon is not read until every transaction that could still write below it has ended.
 */
export const HORIZON = { sqlite: String(Number.MAX_SAFE_INTEGER), postgres: "log_horizon()" };

/**
 * PostgreSQL numbers the log by transaction IDs. After a failover to a standby that lacks the last commits, these IDs
 * are used again. A position is valid only if its event has the same number here, or retention has removed it.
 */
const IS_KNOWN = {
  sqlite: "1",
  postgres: `CAST(log.horizon > GREATEST($2, $3) AND (
       CAST($4 AS TEXT) IS NULL
       OR GREATEST(environments.log_removed_seq, environments.log_removed_replay) >= GREATEST($2, $3)
       OR EXISTS (SELECT 1 FROM events WHERE environment = $1 AND id = $4 AND seq = $2)
       OR EXISTS (SELECT 1 FROM replays WHERE environment = $1 AND id = $4 AND number = $3)) AS INTEGER)`,
};

const LAST_EVENT = (before: string) =>
  `SELECT seq, id FROM events WHERE environment = $1 AND seq < ${before} ORDER BY seq DESC LIMIT 1`;
const LAST_REPLAY = (before: string, column: "number" | "after_seq" = "number") =>
  `SELECT number, id, after_seq FROM replays WHERE environment = $1 AND ${column} < ${before} ORDER BY number DESC LIMIT 1`;

/**
 * Reads the log after a position, oldest first, of the given types. Returns undefined if the sandbox was reset and the
 * log is that of before. It is one statement, since two could reach different servers.
 */
export async function readLog(
  queries: Queries,
  environment: number,
  after: LogPosition,
  types: readonly EventType[],
  limit: number,
): Promise<LogPart | undefined> {
  const { dialect } = queries;
  const typeParameters = types.map((_, i) => `$${i + 6}`).join(", ");
  const horizon = "(SELECT horizon FROM log)";
  const parameters: SqlValue[] = [environment, after.seq, after.replay, after.id ?? null, limit, ...types];
  const rows = await queries.all<ReadRow>(
    `WITH log AS (SELECT ${HORIZON[dialect]} AS horizon),
     new_events AS (
       SELECT seq AS after_seq, 0 AS number, id, type, ${LISTED_BODY} FROM events
       WHERE environment = $1 AND seq > $2 AND seq < ${horizon} AND type IN (${typeParameters}) ORDER BY seq LIMIT $5),
     new_replays AS (
       SELECT r.after_seq, r.number, e.id, e.type, ${LISTED_BODY},
         r.id || COALESCE(' ' || r.listener_id || ' ' || COALESCE(r.target, ''), '') AS replay
       FROM replays r JOIN events e ON e.environment = r.environment AND e.id = r.event_id
       WHERE r.environment = $1 AND r.number > $3 AND r.number < ${horizon} AND r.event_type IN (${typeParameters})
       ORDER BY r.number LIMIT $5),
     state AS (
       SELECT ${IS_KNOWN[dialect]} AS is_known,
              CAST(EXISTS (SELECT 1 FROM events WHERE environment = $1 AND seq >= log.horizon)
                   OR EXISTS (SELECT 1 FROM replays WHERE environment = $1 AND number >= log.horizon) AS INTEGER) AS held,
              environments.log_removed_seq AS removed_seq, environments.log_removed_replay AS removed_replay,
              last_event.seq AS last_seq, last_event.id AS last_id,
              last_replay.number AS last_replay, last_replay.id AS last_replay_id, last_replay.after_seq AS last_after_seq
       FROM log JOIN environments ON environments.id = $1 AND environments.${IS_CURRENT}
       LEFT JOIN (${LAST_EVENT(horizon)}) AS last_event ON 1 = 1
       LEFT JOIN (${LAST_REPLAY(horizon)}) AS last_replay ON 1 = 1)
     SELECT ${STATE_TEXT} AS state, CAST(NULL AS BIGINT) AS after_seq, CAST(NULL AS BIGINT) AS number, NULL AS id,
            NULL AS type, NULL AS body, CAST(NULL AS BIGINT) AS body_checksum, NULL AS body_bytes, NULL AS replay
     FROM state
     UNION ALL SELECT NULL, after_seq, number, id, type, body, body_checksum, body_bytes, NULL FROM new_events
     UNION ALL SELECT NULL, after_seq, number, id, type, body, body_checksum, body_bytes, replay FROM new_replays`,
    parameters,
  );
  const state = rows.find((row) => row.state !== null)?.state;
  if (state == null) return undefined;
  const entries = rows.filter((row): row is EntryRow => row.state === null).sort(byPosition);
  return { events: toEvents(entries.slice(0, limit), after), ...readState(state) };
}

/** The log's state as one text, because each column costs time for each row. An ID has no space. */
const STATE_TEXT = "is_known held removed_seq removed_replay last_seq last_id last_replay last_replay_id last_after_seq"
  .split(" ")
  .map((column) => `COALESCE(CAST(${column} AS TEXT), '')`)
  .join(" || ' ' || ");

function readState(state: string): Omit<LogPart, "events"> {
  const [isKnown, held, removedSeq, removedReplay, lastSeq, lastId, lastReplay, lastReplayId, lastAfterSeq] =
    state.split(" ");
  return {
    heldBack: held === "1",
    isKnown: isKnown === "1",
    end: toPosition(
      lastSeq === "" ? undefined : { seq: Number(lastSeq), id: lastId! },
      lastReplay === ""
        ? undefined
        : { number: Number(lastReplay), id: lastReplayId!, after_seq: Number(lastAfterSeq) },
    ),
    removed: { seq: Number(removedSeq), replay: Number(removedReplay) },
  };
}

/** Lists each member, because copying the rest of a row would cost as much as sending the event. */
function toEvents(entries: readonly EntryRow[], after: LogPosition): LogPart["events"] {
  let { seq, replay } = after;
  return entries.map(({ id, type, body, body_checksum, body_bytes, after_seq, number, replay: again }) => {
    const [replayId, listener, target] = again?.split(" ") ?? [];
    if (replayId === undefined) seq = after_seq;
    else replay = number;
    const position = { seq, replay, id: replayId ?? id };
    const addressee = listener === undefined ? undefined : { listener, target: target || null };
    return { position, id, type, replayId, addressee, body, body_checksum, body_bytes };
  });
}

function byPosition(a: EntryRow, b: EntryRow): number {
  return a.after_seq - b.after_seq || a.number - b.number;
}

/** Returns the later of two positions. */
function toPosition(
  event: { seq: number; id: string } | undefined,
  replay: { number: number; id: string; after_seq: number } | undefined,
): LogPosition {
  const seq = event?.seq ?? 0;
  const isReplayLast = replay !== undefined && replay.after_seq >= seq;
  return { seq, replay: replay?.number ?? 0, id: isReplayLast ? replay.id : event?.id };
}

/** Counts the events after one number and up to another that have none of these types. */
export async function countOthers(
  queries: Queries,
  environment: number,
  after: number,
  upTo: number,
  types: readonly EventType[],
): Promise<number> {
  const names = types.map((_, i) => `$${i + 4}`).join(", ");
  const row = await queries.get<{ count: number }>(
    `SELECT COUNT(*) AS count FROM events WHERE environment = $1 AND seq > $2 AND seq <= $3 AND type NOT IN (${names})`,
    [environment, after, upTo, ...types],
  );
  return row?.count ?? 0;
}

export async function endOfLog(queries: Queries, environment: number): Promise<LogPosition> {
  const horizon = await horizonOf(queries);
  return lastBefore(queries, environment, { seq: horizon, replay: horizon });
}

/** Returns the position of an event, or of a replay, by its ID. */
export async function findInLog(queries: Queries, environment: number, id: string) {
  const horizon = await horizonOf(queries);
  const found = await exactPosition(queries, environment, id);
  if (found === undefined || Math.max(found.position.seq, found.position.replay) < horizon) return found;
  // Others may still precede an event that is not readable yet: then it is sent again, after them.
  return { ...found, position: await lastBefore(queries, environment, { seq: horizon, replay: horizon }) };
}

async function exactPosition(queries: Queries, environment: number, id: string) {
  const sql = "SELECT seq FROM events WHERE environment = $1 AND id = $2";
  const event = await queries.get<{ seq: number }>(sql, [environment, id]);
  if (event !== undefined) {
    const replay = await queries.get<{ number: number }>(LAST_REPLAY("$2", "after_seq"), [environment, event.seq]);
    return { position: { seq: event.seq, replay: replay?.number ?? 0, id }, isReplay: false };
  }
  const replay = await queries.get<{ number: number; after_seq: number }>(
    "SELECT number, after_seq FROM replays WHERE environment = $1 AND id = $2",
    [environment, id],
  );
  return replay && { position: { seq: replay.after_seq, replay: replay.number, id }, isReplay: true };
}

/**
 * How far the order of IDs may differ from the order of commits, in milliseconds: an ID contains the time at which its
 * transaction began. An SQLite file has one writer, whose IDs and numbers increase together.
 */
export const ID_DISORDER_MS = { sqlite: 0, postgres: 60_000 };
/** Limits what is read to find the lowest number among them, however many there are in that time. */
const MAX_DISORDERED = 1_000_000;
/** A text above every ID. */
const HIGHEST_ID = "~";

/** Returns the highest ID that an event may have whose number is below that of the first event at or above a bound. */
export async function lastDisorderedId(queries: Queries, environment: number, idBound: string, table = "events") {
  const first = await queries.get<{ id: string }>(
    `SELECT id FROM ${table} WHERE environment = $1 AND id >= $2 ORDER BY id LIMIT 1`,
    [environment, idBound],
  );
  if (first === undefined) return HIGHEST_ID;
  if (queries.dialect === "sqlite") return first.id;
  return lowestIdAt("event", timeOfId(first.id) + ID_DISORDER_MS[queries.dialect]);
}

/** Returns the lowest ID that an event may have whose number is above that of the last event below a bound. */
export async function firstDisorderedId(queries: Queries, environment: number, idBound: string) {
  const last = await queries.get<{ id: string }>(
    "SELECT id FROM events WHERE environment = $1 AND id < $2 ORDER BY id DESC LIMIT 1",
    [environment, idBound],
  );
  if (last === undefined) return "";
  if (queries.dialect === "sqlite") return last.id;
  return lowestIdAt("event", timeOfId(last.id) - ID_DISORDER_MS[queries.dialect]);
}

/**
 * Returns the lowest or highest number of the events in a range of IDs. Reads by that range, whatever the planner
 * prefers.
 */
export function extremeSeq(extreme: "MIN" | "MAX", ids: string): string {
  return `SELECT ${extreme}(seq) FROM (
    SELECT seq FROM events WHERE environment = $1 AND ${ids} ORDER BY id LIMIT ${MAX_DISORDERED}) AS disordered`;
}

/**
 * Returns the last position before every event and replay whose ID is at or above a bound. The event with the lowest ID
 * need not have the lowest number.
 */
export async function positionBefore(queries: Queries, environment: number, idBound: string): Promise<LogPosition> {
  const row = await queries.get<{ horizon: number; seq: number | null; replay: number | null; after: number | null }>(
    `SELECT ${HORIZON[queries.dialect]} AS horizon, (${extremeSeq("MIN", "id >= $2 AND id <= $3")}) AS seq,
            first_replay.number AS replay, first_replay.after_seq AS after
     FROM (SELECT MIN(number) AS number, MIN(after_seq) AS after_seq FROM (
             SELECT number, after_seq FROM replays WHERE environment = $1 AND id >= $2 AND id <= $4
             ORDER BY id LIMIT ${MAX_DISORDERED}) AS disordered) AS first_replay`,
    [
      environment,
      idBound,
      await lastDisorderedId(queries, environment, idBound),
      await lastDisorderedId(queries, environment, idBound, "replays"),
    ],
  );
  const { horizon, seq, replay, after } = row!;
  // What was not visible here is at the horizon or above it.
  const event = Math.min(seq ?? horizon, horizon);
  if (replay === null || after === null || event <= after) {
    return lastBefore(queries, environment, { seq: event, replay: event }, "after_seq");
  }
  return lastBefore(queries, environment, { seq: after + 1, replay });
}

/** Returns the last position before an event's number and a replay's, or that of the event which the replay follows. */
async function lastBefore(
  queries: Queries,
  environment: number,
  { seq, replay }: LogNumbers,
  replayColumn: "number" | "after_seq" = "number",
): Promise<LogPosition> {
  const lastReplay = LAST_REPLAY("$2", replayColumn);
  return toPosition(
    ...(await Promise.all([
      queries.get<{ seq: number; id: string }>(LAST_EVENT("$2"), [environment, seq]),
      queries.get<{ number: number; id: string; after_seq: number }>(lastReplay, [environment, replay]),
    ])),
  );
}

async function horizonOf(queries: Queries): Promise<number> {
  const row = await queries.get<{ horizon: number }>(`SELECT ${HORIZON[queries.dialect]} AS horizon`);
  return row!.horizon;
}

/** Returns a text that changes whenever there may be more to read (PostgreSQL only). */
export async function stateOfLog(queries: Queries): Promise<string> {
  const row = await queries.get<{ seq: number; replay: number; horizon: number }>(
    `SELECT (SELECT COALESCE(MAX(seq), 0) FROM events) AS seq, (SELECT COALESCE(MAX(number), 0) FROM replays) AS replay,
            log_horizon() AS horizon`,
  );
  return `${row?.seq} ${row?.replay} ${row?.horizon}`;
}

/**
 * Maximum number of events and replays of a unit of work. PostgreSQL numbers those of a transaction with ten bits, and
 * up to 64 units share one: with more, a number could be used twice. No operation of the API writes more than one.
 */
const MAX_POSITIONS = { shared: 15, alone: 1000 };
const positionsTaken = new WeakMap<Transaction, number>();

/** Throws if a unit of work writes more events than a transaction has room for: write them in several units. */
export function takePosition(tx: Transaction): void {
  if (tx.dialect === "sqlite") return;
  const count = (positionsTaken.get(tx) ?? 0) + 1;
  const max = tx.isShared ? MAX_POSITIONS.shared : MAX_POSITIONS.alone;
  if (count > max) throw new Error(`A unit of work may write at most ${max} events: use several.`);
  positionsTaken.set(tx, count);
}

/**
 * Makes the log's numbers continue after the existing ones if a database was copied to a server with its own
 * transaction counter.
 */
export async function alignLog(database: Database): Promise<void> {
  if (database.dialect === "sqlite") return;
  const last = "GREATEST((SELECT COALESCE(MAX(seq), 0) FROM events), (SELECT COALESCE(MAX(number), 0) FROM replays))";
  await database.write((tx) =>
    tx.run(
      `UPDATE log_base SET base = ${last} / 1024 + 1 - CAST(CAST(pg_current_xact_id() AS TEXT) AS BIGINT)
       WHERE ${last} / 1024 >= base + CAST(CAST(pg_snapshot_xmax(pg_current_snapshot()) AS TEXT) AS BIGINT)`,
    ),
  );
}
