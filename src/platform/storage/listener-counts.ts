import type { Queries, Transaction } from "./database.ts";

/** How many sessions listen to an environment at one process (PostgreSQL alone: elsewhere there is one process). */
export interface ListenerCountRow {
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
