import type { EventType } from "../../contract/event-types.ts";
import type { Queries, Transaction } from "./database.ts";
import { takePosition } from "./event-log.ts";

/** The number that a replay follows: in an SQLite file the last event's, in PostgreSQL any lower number. */
const END: Record<Queries["dialect"], string> = {
  sqlite: "SELECT NULL AS number, COALESCE(MAX(seq), 0) AS after_seq FROM events WHERE environment = $1",
  postgres: "SELECT position AS number, position AS after_seq FROM (SELECT log_position() AS position) AS log",
};

/** Adds a replay at the end of the log. */
export async function insertReplay(
  tx: Transaction,
  replay: { environment: number; id: string; eventId: string; eventType: EventType },
): Promise<void> {
  takePosition(tx);
  await tx.run(
    `INSERT INTO replays (number, environment, id, event_id, event_type, after_seq)
     SELECT number, $1, $2, $3, $4, after_seq FROM (${END[tx.dialect]}) AS log_end`,
    [replay.environment, replay.id, replay.eventId, replay.eventType],
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
