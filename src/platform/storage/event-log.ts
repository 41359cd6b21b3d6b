import type { EventType } from "../../contract/event-types.ts";
import type { Queries, Transaction } from "./database.ts";

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
  /** What names the place of a replay; an event's place is named by its own id. */
  replayId: string | undefined;
}

interface EventInLog {
  seq: number;
  id: string;
  type: EventType;
  body: string;
}

type ReplayInLog = Omit<EventInLog, "seq"> & { number: number; replay_id: string; after_seq: number };

/** The log behind a place, oldest first, of the given types. */
export async function readLog(
  queries: Queries,
  environment: number,
  behind: LogPlace,
  types: readonly EventType[],
  limit: number,
): Promise<LoggedEvent[]> {
  const places = types.map((_, i) => `$${i + 4}`).join(", ");
  const events = await queries.all<EventInLog>(
    `SELECT seq, id, type, body FROM events WHERE environment = $1 AND seq > $2 AND type IN (${places})
     ORDER BY seq LIMIT $3`,
    [environment, behind.seq, limit, ...types],
  );
  const replays = await queries.all<ReplayInLog>(
    `SELECT r.number, r.id AS replay_id, r.after_seq, e.id, e.type, e.body
     FROM replays r JOIN events e ON e.environment = r.environment AND e.id = r.event_id
     WHERE r.environment = $1 AND r.number > $2 AND r.event_type IN (${places})
     ORDER BY r.number LIMIT $3`,
    [environment, behind.replay, limit, ...types],
  );
  return merge(events, replays, behind).slice(0, limit);
}

function merge(events: readonly EventInLog[], replays: readonly ReplayInLog[], behind: LogPlace): LoggedEvent[] {
  const merged: LoggedEvent[] = [];
  const place = { ...behind };
  let next = 0;
  const addReplaysBefore = (seq: number) => {
    for (let replay = replays[next]; replay !== undefined && replay.after_seq < seq; replay = replays[next]) {
      place.replay = replay.number;
      const { id, type, body, replay_id: replayId } = replay;
      merged.push({ place: { ...place }, id, type, body, replayId });
      next += 1;
    }
  };
  for (const { seq, id, type, body } of events) {
    addReplaysBefore(seq);
    place.seq = seq;
    merged.push({ place: { ...place }, id, type, body, replayId: undefined });
  }
  addReplaysBefore(Infinity);
  return merged;
}

/** Where the log ends, and the id that names that place; no id where the log is empty. */
export async function endOfLog(queries: Queries, environment: number): Promise<LogPlace & { id: string | undefined }> {
  const event = await queries.get<{ seq: number; id: string }>(
    "SELECT seq, id FROM events WHERE environment = $1 ORDER BY seq DESC LIMIT 1",
    [environment],
  );
  const replay = await queries.get<{ number: number; id: string; after_seq: number }>(
    `SELECT number, id, after_seq FROM replays WHERE environment = $1
     ORDER BY number DESC LIMIT 1`,
    [environment],
  );
  const seq = event?.seq ?? 0;
  const isReplayLast = replay !== undefined && replay.after_seq >= seq;
  return { seq, replay: replay?.number ?? 0, id: isReplayLast ? replay.id : event?.id };
}

/** The place of an event, or of a replay, by its id. */
export async function placeInLog(queries: Queries, environment: number, id: string): Promise<LogPlace | undefined> {
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

/** Adds a replay at the end of the log. */
export async function insertReplay(
  tx: Transaction,
  replay: { environment: number; id: string; eventId: string; eventType: EventType },
): Promise<void> {
  await tx.run(
    `INSERT INTO replays (environment, id, event_id, event_type, after_seq)
     VALUES ($1, $2, $3, $4, (SELECT COALESCE(MAX(seq), 0) FROM events WHERE environment = $1))`,
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
