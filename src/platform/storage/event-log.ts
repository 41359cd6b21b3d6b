import type { EventType } from "../../contract/event-types.ts";
import type { Database, Queries, Transaction } from "./database.ts";
import { isIntact, type StoredBody } from "./event-body.ts";

/**
 * A place in the log that listeners read: every event of an environment in the order in which they became visible, and
 * between them the replays of earlier ones. `seq` numbers the events, `replay` the replays; both only grow.
 */
export interface LogPlace {
  seq: number;
  replay: number;
}

/** An event in the log, with the place behind it. */
export interface LoggedEvent {
  place: LogPlace;
  id: string;
  type: EventType;
  body: string;
  /** True where the body is not the one that was written: it must not be sent. */
  isDamaged: boolean;
  /** What names the place of a replay; an event's place is named by its own id. */
  replayId: string | undefined;
}

interface EventInLog extends StoredBody {
  seq: number;
  id: string;
  type: EventType;
}

type ReplayInLog = Omit<EventInLog, "seq"> & { number: number; replay_id: string; after_seq: number };

/** What can be read of the log now. */
export interface LogPart {
  events: LoggedEvent[];
  /** True where more is there that may not be read yet. */
  heldBack: boolean;
}

/** The log behind a place, oldest first, of the given types. */
export async function readLog(
  queries: Queries,
  environment: number,
  behind: LogPlace,
  types: readonly EventType[],
  limit: number,
): Promise<LogPart> {
  const { horizon, held } = await horizonOf(queries, environment);
  const places = types.map((_, i) => `$${i + 5}`).join(", ");
  // Asked in one go: of an SQLite file both then see the same state, and below PostgreSQL's horizon nothing changes.
  const [events, replays] = await Promise.all([
    queries.all<EventInLog>(
      `SELECT seq, id, type, body, body_checksum FROM events
       WHERE environment = $1 AND seq > $2 AND seq < $3 AND type IN (${places}) ORDER BY seq LIMIT $4`,
      [environment, behind.seq, horizon, limit, ...types],
    ),
    queries.all<ReplayInLog>(
      `SELECT r.number, r.id AS replay_id, r.after_seq, e.id, e.type, e.body, e.body_checksum
       FROM replays r JOIN events e ON e.environment = r.environment AND e.id = r.event_id
       WHERE r.environment = $1 AND r.number > $2 AND r.number < $3 AND r.event_type IN (${places})
       ORDER BY r.number LIMIT $4`,
      [environment, behind.replay, horizon, limit, ...types],
    ),
  ]);
  return { events: merge(events, replays, behind).slice(0, limit), heldBack: held === 1 };
}

/**
 * Where several processes write, an event may become visible behind one with a higher number. What lies at or above the
 * horizon is left for later, until every transaction has ended that could still write below it.
 */
async function horizonOf(queries: Queries, environment: number): Promise<{ horizon: number; held: number }> {
  if (queries.dialect === "sqlite") return { horizon: Number.MAX_SAFE_INTEGER, held: 0 };
  const row = await queries.get<{ horizon: number; held: number }>(
    `SELECT horizon, CAST(EXISTS (SELECT 1 FROM events WHERE environment = $1 AND seq >= horizon)
                          OR EXISTS (SELECT 1 FROM replays WHERE environment = $1 AND number >= horizon) AS INTEGER) AS held
     FROM (SELECT log_horizon() AS horizon) AS now`,
    [environment],
  );
  return row!;
}

/** A text that changes whenever there may be more to read (PostgreSQL alone). */
export async function stateOfLog(queries: Queries): Promise<string> {
  const row = await queries.get<{ seq: number; replay: number; horizon: number }>(
    `SELECT (SELECT COALESCE(MAX(seq), 0) FROM events) AS seq, (SELECT COALESCE(MAX(number), 0) FROM replays) AS replay,
            log_horizon() AS horizon`,
  );
  return `${row?.seq} ${row?.replay} ${row?.horizon}`;
}

function merge(events: readonly EventInLog[], replays: readonly ReplayInLog[], behind: LogPlace): LoggedEvent[] {
  const merged: LoggedEvent[] = [];
  const place = { ...behind };
  let next = 0;
  const addReplaysBefore = (seq: number) => {
    for (let replay = replays[next]; replay !== undefined && replay.after_seq < seq; replay = replays[next]) {
      place.replay = replay.number;
      const { id, type, body, replay_id: replayId } = replay;
      merged.push({ place: { ...place }, id, type, body, isDamaged: !isIntact(replay), replayId });
      next += 1;
    }
  };
  for (const event of events) {
    const { seq, id, type, body } = event;
    addReplaysBefore(seq);
    place.seq = seq;
    merged.push({ place: { ...place }, id, type, body, isDamaged: !isIntact(event), replayId: undefined });
  }
  addReplaysBefore(Infinity);
  return merged;
}

/** Where the log ends, and the id that names that place; no id where the log is empty. */
export async function endOfLog(queries: Queries, environment: number): Promise<LogPlace & { id: string | undefined }> {
  const { horizon } = await horizonOf(queries, environment);
  const [event, replay] = await Promise.all([
    queries.get<{ seq: number; id: string }>(
      "SELECT seq, id FROM events WHERE environment = $1 AND seq < $2 ORDER BY seq DESC LIMIT 1",
      [environment, horizon],
    ),
    queries.get<{ number: number; id: string; after_seq: number }>(
      `SELECT number, id, after_seq FROM replays WHERE environment = $1 AND number < $2
       ORDER BY number DESC LIMIT 1`,
      [environment, horizon],
    ),
  ]);
  const seq = event?.seq ?? 0;
  const isReplayLast = replay !== undefined && replay.after_seq >= seq;
  return { seq, replay: replay?.number ?? 0, id: isReplayLast ? replay.id : event?.id };
}

/** The place of an event, or of a replay, by its id. */
export async function placeInLog(queries: Queries, environment: number, id: string): Promise<LogPlace | undefined> {
  const place = await exactPlace(queries, environment, id);
  if (place === undefined) return undefined;
  // Others may still come before an event that is not readable yet: then it is sent again, behind them.
  const last = (await horizonOf(queries, environment)).horizon - 1;
  return { seq: Math.min(place.seq, last), replay: Math.min(place.replay, last) };
}

async function exactPlace(queries: Queries, environment: number, id: string): Promise<LogPlace | undefined> {
  const event = await queries.get<{ seq: number }>("SELECT seq FROM events WHERE environment = $1 AND id = $2", [
    environment,
    id,
  ]);
  if (event !== undefined) return { seq: event.seq, replay: await lastReplayBefore(queries, environment, event.seq) };
  const replay = await queries.get<{ number: number; after_seq: number }>(
    "SELECT number, after_seq FROM replays WHERE environment = $1 AND id = $2",
    [environment, id],
  );
  return replay && { seq: replay.after_seq, replay: replay.number };
}

async function lastReplayBefore(queries: Queries, environment: number, seq: number): Promise<number> {
  const row = await queries.get<{ number: number }>(
    `SELECT number FROM replays WHERE environment = $1 AND after_seq < $2
     ORDER BY number DESC LIMIT 1`,
    [environment, seq],
  );
  return row?.number ?? 0;
}

/** The oldest kept event whose id is at or above a bound. */
export function oldestInLogFrom(queries: Queries, environment: number, idBound: string) {
  return queries.get<{ seq: number; id: string }>(
    "SELECT seq, id FROM events WHERE environment = $1 AND id >= $2 ORDER BY id LIMIT 1",
    [environment, idBound],
  );
}

/** The number of the last replay whose id is below a bound; 0 where there is none. */
export async function lastReplayBelow(queries: Queries, environment: number, idBound: string): Promise<number> {
  const row = await queries.get<{ number: number }>(
    "SELECT number FROM replays WHERE environment = $1 AND id < $2 ORDER BY id DESC LIMIT 1",
    [environment, idBound],
  );
  return row?.number ?? 0;
}

/**
 * Events and replays that a unit may write. PostgreSQL numbers those of a transaction with ten bits, and up to 64 units
 * share one: more of them could meet a number that is taken. No operation writes more than one.
 */
const PLACES_A_UNIT = 15;
const placesTaken = new WeakMap<Transaction, number>();

/** Throws where a unit writes more events than a transaction has room for: write them in several units. */
export function takePlace(tx: Transaction): void {
  if (tx.dialect === "sqlite") return;
  const places = (placesTaken.get(tx) ?? 0) + 1;
  if (places > PLACES_A_UNIT) throw new Error(`A unit may write ${PLACES_A_UNIT} events, not more: use several units.`);
  placesTaken.set(tx, places);
}

/** What stands before a replay: in an SQLite file the last event, in PostgreSQL whatever has a lower number than it. */
const END: Record<Queries["dialect"], string> = {
  sqlite: "SELECT NULL AS number, COALESCE(MAX(seq), 0) AS after_seq FROM events WHERE environment = $1",
  postgres: "SELECT place AS number, place AS after_seq FROM (SELECT log_position() AS place) AS log",
};

/** Adds a replay at the end of the log. */
export async function insertReplay(
  tx: Transaction,
  replay: { environment: number; id: string; eventId: string; eventType: EventType },
): Promise<void> {
  takePlace(tx);
  await tx.run(
    `INSERT INTO replays (number, environment, id, event_id, event_type, after_seq)
     SELECT number, $1, $2, $3, $4, after_seq FROM (${END[tx.dialect]}) AS log_end`,
    [replay.environment, replay.id, replay.eventId, replay.eventType],
  );
}

/** Removes replays older than an id; answers how many. */
export function deleteReplays(tx: Transaction, environment: number, idBound: string, limit: number): Promise<number> {
  return tx.run(
    `DELETE FROM replays WHERE number IN (
       SELECT number FROM replays WHERE environment = $1 AND id < $2 ORDER BY id LIMIT $3)`,
    [environment, idBound, limit],
  );
}

/**
 * Where a database was copied to a server that counts its transactions from anew, lets the log's numbers go on behind
 * those that are there already.
 */
export async function alignLog(database: Database): Promise<void> {
  if (database.dialect === "sqlite") return;
  const last = "GREATEST((SELECT COALESCE(MAX(seq), 0) FROM events), (SELECT COALESCE(MAX(number), 0) FROM replays))";
  await database.write((tx) =>
    tx.run(
      `UPDATE log_base SET base = ${last} / 1024 + 1 - CAST(CAST(pg_current_xact_id() AS TEXT) AS BIGINT)
       WHERE ${last} / 1024 > base + CAST(CAST(pg_snapshot_xmax(pg_current_snapshot()) AS TEXT) AS BIGINT)`,
    ),
  );
}
