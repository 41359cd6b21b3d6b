import type { Queries, Transaction } from "./database.ts";

/** One device of one user (or key) that listens: what its signing secret hangs on. */
export interface ListenerRow {
  id: string;
  environment: number;
  /** The user's id, or the account's where no user stands behind the credential. */
  owner: string;
  device: string;
  /** The sealed signing secret. */
  secret: Uint8Array;
  /** Real time when a session of it was last open, true to the day; null where an older program made it. */
  seen_at: number | null;
  created: number;
}

const COLUMNS = "id, environment, owner, device, secret, seen_at, created";

export function findListener(queries: Queries, environment: number, owner: string, device: string) {
  return queries.get<ListenerRow>(
    `SELECT ${COLUMNS} FROM listeners WHERE environment = $1 AND owner = $2 AND device = $3`,
    [environment, owner, device],
  );
}

/** Keeps a listener as seen. Where its owner has one of that name, that one stays with its id and secret. */
export async function keepListener(tx: Transaction, row: ListenerRow): Promise<void> {
  await tx.run(
    `INSERT INTO listeners (${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7)
     ON CONFLICT (environment, owner, device) DO UPDATE SET seen_at = excluded.seen_at`,
    [row.id, row.environment, row.owner, row.device, row.secret, row.seen_at, row.created],
  );
}

/** Lets `read committed` units that write about one listener follow each other, in whatever processes its sessions are. */
export async function holdListener(tx: Transaction, id: string): Promise<void> {
  await tx.get(`SELECT id FROM listeners WHERE id = $1 ${tx.dialect === "postgres" ? "FOR UPDATE" : ""}`, [id]);
}

export async function touchListeners(tx: Transaction, ids: readonly string[], at: number): Promise<void> {
  // In one order everywhere, or two processes could each wait for the other.
  for (const id of ids.toSorted()) await tx.run("UPDATE listeners SET seen_at = $2 WHERE id = $1", [id, at]);
}

/** Removes listeners that were not seen since a time; returns how many. */
export function deleteListeners(tx: Transaction, environment: number, before: number, limit: number): Promise<number> {
  return tx.run(
    `DELETE FROM listeners WHERE id IN (
       SELECT id FROM listeners WHERE environment = $1 AND COALESCE(seen_at, created) < $2 LIMIT $3)`,
    [environment, before, limit],
  );
}

/** How many sessions listen to an environment at one process (PostgreSQL alone: elsewhere there is one process). */
interface ListenerCountRow {
  environment: number;
  /** Names the process, and none after it. */
  process: string;
  sessions: number;
  /** When the process said so: one that has died says nothing more. */
  told_at: number;
}

/** Keeps what a process says, in place of what it said before. */
export async function keepListenerCount(tx: Transaction, row: ListenerCountRow): Promise<void> {
  await tx.run(
    `INSERT INTO listener_counts (environment, process, sessions, told_at) VALUES ($1, $2, $3, $4)
     ON CONFLICT (environment, process) DO UPDATE SET sessions = excluded.sessions, told_at = excluded.told_at`,
    [row.environment, row.process, row.sessions, row.told_at],
  );
}

/** How many sessions listen to an environment at other processes, of those that have said so since a time. */
export async function countSessionsElsewhere(
  queries: Queries,
  environment: number,
  process: string,
  since: number,
): Promise<number> {
  const row = await queries.get<{ sessions: number | null }>(
    "SELECT SUM(sessions) AS sessions FROM listener_counts WHERE environment = $1 AND process <> $2 AND told_at >= $3",
    [environment, process, since],
  );
  return row?.sessions ?? 0;
}

/** Removes what has not been said again since a time. */
export async function deleteOldListenerCounts(tx: Transaction, before: number): Promise<void> {
  await tx.run("DELETE FROM listener_counts WHERE told_at < $1", [before]);
}
