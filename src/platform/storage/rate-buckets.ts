import type { Transaction } from "./database.ts";

/** Capacity of a bucket, and how long one token takes to return. */
export interface Bucket {
  name: string;
  burst: number;
  refillMs: number;
}

/** The time in milliseconds. All processes use the database's clock. If it is set back, buckets refill from then on. */
const NOW = "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS DOUBLE PRECISION)";
const FILLED = `LEAST(CAST($2 AS DOUBLE PRECISION),
                      b.tokens + GREATEST(0, ${NOW} - b.at) / CAST($3 AS DOUBLE PRECISION))`;
const GRANTED = `LEAST(CAST($4 AS DOUBLE PRECISION), FLOOR(${FILLED}))`;

/** Takes this many whole tokens, or as many as there are (PostgreSQL only: elsewhere one process counts alone). */
export async function takeTokens(tx: Transaction, { name, burst, refillMs }: Bucket, count: number) {
  const row = await tx.get<{ granted: number; tokens: number }>(
    `INSERT INTO rate_buckets AS b (name, tokens, at, granted)
     VALUES ($1, CAST($2 AS DOUBLE PRECISION) - LEAST($2, $4), ${NOW}, LEAST($2, $4))
     ON CONFLICT (name) DO UPDATE SET tokens = ${FILLED} - ${GRANTED}, granted = ${GRANTED}, at = ${NOW}
     RETURNING granted, tokens`,
    [name, burst, refillMs, count],
  );
  return row!;
}

/** Returns tokens that were not used. */
export async function returnTokens(tx: Transaction, { name, burst, refillMs }: Bucket, count: number): Promise<void> {
  const sql = `UPDATE rate_buckets AS b SET tokens = LEAST($2, ${FILLED} + $4), at = ${NOW} WHERE name = $1`;
  await tx.run(sql, [name, burst, refillMs, count]);
}

/** Removes buckets without use for a day, or only used before the clock was set back: all are full again. */
export function deleteIdleBuckets(tx: Transaction): Promise<number> {
  return tx.run(`DELETE FROM rate_buckets WHERE ABS(at - ${NOW}) > 86400000`);
}
