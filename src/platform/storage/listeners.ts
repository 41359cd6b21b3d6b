import { insertRow } from "./batches.ts";
import { locking, type Queries, type Transaction } from "./database.ts";

/** One listening device of one user (or key), which its signing secret belongs to. */
export interface ListenerRow {
  id: string;
  environment: number;
  /** The user's ID, or the account's if the credential belongs to no user. */
  owner: string;
  device: string;
  /** The sealed signing secret. */
  secret: Uint8Array;
  /** Real time at which it last had an open connection, true to the day; null if an older program created it. */
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

/** Records a listener as seen. If its owner has one of that name, that one stays with its ID and secret. */
export async function insertListener(tx: Transaction, row: ListenerRow): Promise<void> {
  const conflict = "ON CONFLICT (environment, owner, device) DO UPDATE SET seen_at = excluded.seen_at";
  await insertRow(tx, "listeners", row, conflict);
}

/** Serializes `read committed` units of work about one listener, in whatever processes its connections are. */
export async function lockListener(tx: Transaction, id: string): Promise<void> {
  await tx.get(`SELECT id FROM listeners WHERE id = $1 ${locking(tx, "FOR UPDATE")}`, [id]);
}

export async function touchListeners(tx: Transaction, ids: readonly string[], at: number): Promise<void> {
  // In one order everywhere; otherwise two processes could wait for each other.
  for (const id of ids.toSorted()) await tx.run("UPDATE listeners SET seen_at = $2 WHERE id = $1", [id, at]);
}

/** Removes listeners that were not seen since a time. Returns how many. */
export function deleteListeners(tx: Transaction, environment: number, before: number, limit: number): Promise<number> {
  return tx.run(
    `DELETE FROM listeners WHERE id IN (
       SELECT id FROM listeners WHERE environment = $1 AND COALESCE(seen_at, created) < $2 LIMIT $3)`,
    [environment, before, limit],
  );
}

/**
 * Stores which connections listen to an environment at one process, in place of its previous report (PostgreSQL only:
 * elsewhere there is one process). The name of a process is never reused; a dead one no longer reports.
 */
export async function saveListenerCount(
  tx: Transaction,
  row: { environment: number; process: string; sessions: number; connections: string; reported_at: number },
): Promise<void> {
  const set = ["sessions", "connections", "reported_at"].map((name) => `${name} = excluded.${name}`).join(", ");
  await insertRow(tx, "listener_counts", row, `ON CONFLICT (environment, process) DO UPDATE SET ${set}`);
}

/** Returns what other processes have reported of an environment since a time. A former version reports no connections. */
export function listenerCountsElsewhere(queries: Queries, environment: number, process: string, since: number) {
  return queries.all<{ connections: string | null }>(
    "SELECT connections FROM listener_counts WHERE environment = $1 AND process <> $2 AND reported_at >= $3",
    [environment, process, since],
  );
}

/** Removes reports that were not repeated since a time. */
export async function deleteOldListenerCounts(tx: Transaction, before: number): Promise<void> {
  await tx.run("DELETE FROM listener_counts WHERE reported_at < $1", [before]);
}
