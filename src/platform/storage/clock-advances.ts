import { insertRow } from "./batches.ts";
import type { Queries, Transaction } from "./database.ts";

export interface AdvanceCounts {
  attempts: number;
  succeeded: number;
  failed: number;
}

/** An advance of a test clock. It outlives the process that began it. */
export interface ClockAdvance extends AdvanceCounts {
  environment: number;
  /** Increases within the environment and is never reused, because Idempotency-Keys refer to it. */
  number: number;
  status: "running" | "succeeded" | "canceled";
  /** The clock's offset at the end, in milliseconds. */
  target_offset: number;
  /** The target in the environment's time. Deliveries due until then are attempted. */
  ends_at: number;
  /** When it began, in real time. */
  created: number;
  /** The environment's time and offset when the advance finished; null while it runs. */
  ended_at: number | null;
  ended_offset: number | null;
}

const COLUMNS =
  "environment, number, status, target_offset, ends_at, created, attempts, succeeded, failed, ended_at, ended_offset";

/** Starts an advance and returns its number. The caller holds the clock. */
export async function insertAdvance(
  tx: Transaction,
  advance: Pick<ClockAdvance, "environment" | "target_offset" | "ends_at" | "created">,
): Promise<number> {
  const latest = await findLatestAdvance(tx, advance.environment);
  const number = Math.max(advance.created, (latest?.number ?? 0) + 1);
  await insertRow(tx, "clock_advances", { ...advance, number, status: "running" });
  return number;
}

export function findAdvance(queries: Queries, environment: number, number: number): Promise<ClockAdvance | undefined> {
  const sql = `SELECT ${COLUMNS} FROM clock_advances WHERE environment = $1 AND number = $2`;
  return queries.get(sql, [environment, number]);
}

export function findLatestAdvance(queries: Queries, environment: number): Promise<ClockAdvance | undefined> {
  const sql = `SELECT ${COLUMNS} FROM clock_advances WHERE environment = $1 ORDER BY number DESC LIMIT 1`;
  return queries.get(sql, [environment]);
}

/** Returns all running advances, with the holder of the clock and when the hold expires, in real time. */
export function runningAdvances(queries: Queries) {
  return queries.all<{ environment: number; number: number; clock_holder: string | null; clock_held_until: number }>(
    `SELECT a.environment, a.number, v.clock_holder, v.clock_held_until
     FROM clock_advances a JOIN environments v ON v.id = a.environment WHERE a.status = 'running'`,
  );
}

export async function countAttempts(tx: Transaction, environment: number, number: number, counts: AdvanceCounts) {
  await tx.run(
    `UPDATE clock_advances SET attempts = attempts + $3, succeeded = succeeded + $4, failed = failed + $5
     WHERE environment = $1 AND number = $2`,
    [environment, number, counts.attempts, counts.succeeded, counts.failed],
  );
}

/** Finishes the environment's running advance, if there is one, at the environment's present time and offset. */
export async function endAdvance(
  tx: Transaction,
  environment: number,
  end: { status: "succeeded" | "canceled"; at: number; offset: number },
): Promise<void> {
  await tx.run(
    `UPDATE clock_advances SET status = $2, ended_at = $3, ended_offset = $4
     WHERE environment = $1 AND status = 'running'`,
    [environment, end.status, end.at, end.offset],
  );
}

/** Deletes finished advances that began before a real time, except the latest. */
export async function deleteAdvances(tx: Transaction, environment: number, before: number): Promise<void> {
  await tx.run(
    `DELETE FROM clock_advances WHERE environment = $1 AND status <> 'running' AND created < $2
       AND number < (SELECT MAX(number) FROM clock_advances WHERE environment = $1)`,
    [environment, before],
  );
}
