import { deleteFirst } from "./batches.ts";
import type { Queries, SqlValue, Transaction } from "./database.ts";
import { IS_CURRENT } from "./environments.ts";

/**
 * Upper bounds of the latency histogram, in milliseconds, by the number of the bucket: earlier versions counted in the
 * first eleven. The greatest one takes the rest: an attempt ends after 10 seconds.
 */
export const LATENCY_BOUNDS = [
  5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 1, 2, 3, 4, 6, 8, 13, 16, 20, 32, 40, 63, 80, 126, 160, 200,
  316, 400, 630, 800, 1260, 1600, 2000, 3160, 4000, 6300, 8000, 9000, 9900,
] as const;

/** A range of an environment's minutes, first and last, in Unix minutes. */
export interface MinuteRange {
  environment: number;
  first: number;
  last: number;
}

/** Attempts of one interval with the same success and latency bucket. */
export interface AttemptCount {
  /** Number of the interval; 0 for the first. */
  part: number;
  /** 1 for a status code from 200 to 299. */
  succeeded: number;
  /** Index into LATENCY_BOUNDS; null without a response time. */
  bucket: number | null;
  count: number;
}

/** Failed attempts with the same endpoint and reason. */
export interface FailureCount {
  /** Null for listeners. */
  endpoint_id: string | null;
  status_code: number | null;
  error: string | null;
  count: number;
  last_at: number;
}

type CountsTable = "event_counts" | "attempt_counts" | "pending_counts";

/** The columns that identify a count, and those that are summed. */
const TABLES: Record<CountsTable, { key: string; latest?: string }> = {
  event_counts: { key: "environment, minute" },
  attempt_counts: { key: "environment, minute, endpoint_id, status_code, error, bucket", latest: "last_at" },
  pending_counts: { key: "environment, endpoint_id" },
};

/** Maximum number of changes of a count that a transaction folds. */
export const MAX_FOLDED = 10_000;

const changesOf = (table: CountsTable) => table.replace(/s$/, "_changes");

/**
 * Selects all rows of a count. On PostgreSQL some are changes that are not folded yet; one statement sees each row
 * once.
 */
function rowsOf({ dialect }: Queries, table: CountsTable): string {
  if (dialect === "sqlite") return table;
  return `(SELECT * FROM ${table} UNION ALL SELECT * FROM ${changesOf(table)}) AS counted`;
}

const SUM = "CAST(SUM(count) AS BIGINT) AS count";
const SUCCEEDED = "CASE WHEN status_code BETWEEN 200 AND 299 THEN 1 ELSE 0 END";
/** An attempt that ended at the time limit took that long; another one without a response has no response time. */
const BUCKET = "CASE WHEN status_code <> 0 OR error LIKE 'timeout: no complete response%' THEN bucket END";

/** Minutes of each interval, 1 by default, and the endpoint whose attempts are counted, unless all are. */
interface Grouping {
  endpoint?: string | undefined;
  minutes?: number;
}

/** Returns SQL for the number of a minute's interval, 0 for the first one. */
const partOf = ({ first }: MinuteRange, minutes: number) => `CAST((minute - ${first}) / ${minutes} AS INTEGER)`;

/** Returns the number of events of each interval with any. */
export async function countEvents(queries: Queries, range: MinuteRange, { minutes = 1 }: Grouping = {}) {
  const part = partOf(range, minutes);
  const rows = await queries.all<{ part: number; count: number }>(
    `SELECT ${part} AS part, ${SUM} FROM ${rowsOf(queries, "event_counts")}
     WHERE environment = $1 AND minute >= $2 AND minute <= $3 GROUP BY ${part}`,
    [range.environment, range.first, range.last],
  );
  return new Map(rows.map(({ part: number, count }) => [number, count]));
}

/** Returns attempts that began in these minutes, in intervals. */
export function countAttempts(queries: Queries, range: MinuteRange, { endpoint, minutes = 1 }: Grouping = {}) {
  const { where, parameters } = attemptsOf(range, endpoint);
  const part = partOf(range, minutes);
  return queries.all<AttemptCount>(
    `SELECT ${part} AS part, ${SUCCEEDED} AS succeeded, ${BUCKET} AS bucket, ${SUM}
     FROM ${rowsOf(queries, "attempt_counts")} WHERE ${where} GROUP BY ${part}, ${SUCCEEDED}, ${BUCKET}`,
    parameters,
  );
}

/** Attempts of an endpoint in one of the intervals. */
type IntervalCount = Omit<AttemptCount, "bucket"> & { endpoint_id: string; last_at: number };

/** Returns the attempts of each endpoint, or of one, in intervals of a number of minutes. */
export function countIntervals(queries: Queries, range: MinuteRange, { endpoint, minutes = 1 }: Grouping) {
  const { where, parameters } = attemptsOf(range, endpoint);
  const part = partOf(range, minutes);
  return queries.all<IntervalCount>(
    `SELECT endpoint_id, ${part} AS part, ${SUCCEEDED} AS succeeded, ${SUM},
            MAX(last_at) AS last_at
     FROM ${rowsOf(queries, "attempt_counts")} WHERE ${where} AND endpoint_id <> ''
     GROUP BY endpoint_id, ${part}, ${SUCCEEDED}`,
    parameters,
  );
}

/** Returns the number of pending deliveries of each endpoint that has any. */
export async function countPendingByEndpoint(queries: Queries, environment: number): Promise<Map<string, number>> {
  const rows = await queries.all<{ endpoint_id: string; count: number }>(
    `SELECT endpoint_id, ${SUM} FROM ${rowsOf(queries, "pending_counts")} WHERE environment = $1 GROUP BY endpoint_id`,
    [environment],
  );
  return new Map(rows.map(({ endpoint_id: id, count }) => [id, count]));
}

/** Returns the failures of these minutes, most frequent first. */
export function countFailures(
  queries: Queries,
  range: MinuteRange,
  { endpoint, limit }: { endpoint: string | undefined; limit: number },
): Promise<FailureCount[]> {
  const { where, parameters } = attemptsOf(range, endpoint);
  return queries.all(
    `SELECT NULLIF(endpoint_id, '') AS endpoint_id, NULLIF(status_code, 0) AS status_code, NULLIF(error, '') AS error,
            ${SUM}, MAX(last_at) AS last_at
     FROM ${rowsOf(queries, "attempt_counts")}
     WHERE ${where} AND ${SUCCEEDED} = 0
     GROUP BY NULLIF(endpoint_id, ''), NULLIF(status_code, 0), NULLIF(error, '')
     ORDER BY SUM(count) DESC, MAX(last_at) DESC LIMIT ${limit}`,
    parameters,
  );
}

/** Deliveries that were canceled with their endpoint have a last attempt that was never made, which does not count. */
function attemptsOf({ environment, first, last }: MinuteRange, endpoint: string | undefined) {
  const where = `environment = $1 AND minute >= $2 AND minute <= $3
     AND (status_code <> 0 OR error NOT LIKE 'endpoint_deleted:%')`;
  const parameters: SqlValue[] = [environment, first, last];
  return endpoint === undefined
    ? { where, parameters }
    : { where: `${where} AND endpoint_id = $4`, parameters: [...parameters, endpoint] };
}

/**
 * Returns how many deliveries wait or are in flight: those of all current environments, or of one, or of one of its
 * endpoints.
 */
export async function countPending(
  queries: Queries,
  { environment, endpoint }: { environment?: number; endpoint?: string | undefined } = {},
): Promise<number> {
  const parameters: SqlValue[] = [];
  const conditions = [
    environment === undefined
      ? `environment IN (SELECT id FROM environments WHERE ${IS_CURRENT})`
      : `environment = $${parameters.push(environment)}`,
  ];
  if (endpoint !== undefined) conditions.push(`endpoint_id = $${parameters.push(endpoint)}`);
  const row = await queries.get<{ count: number }>(
    `SELECT CAST(COALESCE(SUM(count), 0) AS BIGINT) AS count FROM ${rowsOf(queries, "pending_counts")}
     WHERE ${conditions.join(" AND ")}`,
    parameters,
  );
  return row?.count ?? 0;
}

const ANY_CHANGES = `SELECT 1 AS one WHERE ${(Object.keys(TABLES) as CountsTable[])
  .map((table) => `EXISTS (SELECT 1 FROM ${changesOf(table)})`)
  .join(" OR ")}`;

/** Returns true if PostgreSQL has changes to fold. */
export async function hasChanges(queries: Queries): Promise<boolean> {
  return (await queries.get(ANY_CHANGES)) !== undefined;
}

/**
 * Folds changes into the counts, on PostgreSQL, one transaction at a time. Returns how many of the count with most: if
 * MAX_FOLDED, there may be more.
 */
export async function foldChanges(tx: Transaction): Promise<number> {
  let most = 0;
  for (const [table, { key, latest }] of Object.entries(TABLES) as [CountsTable, { key: string; latest?: string }][]) {
    const changes = changesOf(table);
    const more = latest !== undefined && {
      columns: `, ${latest}`,
      values: `, MAX(${latest})`,
      update: `, ${latest} = GREATEST(total.${latest}, excluded.${latest})`,
    };
    const row = await tx.get<{ folded: number }>(
      `WITH taken AS (
         DELETE FROM ${changes} WHERE ctid = ANY (ARRAY (SELECT ctid FROM ${changes} LIMIT ${MAX_FOLDED})) RETURNING *),
       folded AS (
         INSERT INTO ${table} AS total (${key}, count${more ? more.columns : ""})
         SELECT ${key}, SUM(count)${more ? more.values : ""} FROM taken GROUP BY ${key}
         ON CONFLICT (${key}) DO UPDATE SET count = total.count + excluded.count${more ? more.update : ""})
       SELECT COUNT(*) AS folded FROM taken`,
    );
    most = Math.max(most, row?.folded ?? 0);
  }
  return most;
}

/** Lets new changes reuse the space of folded ones. Skips what another process works on. */
export async function vacuumChanges(queries: Queries): Promise<void> {
  const tables = (Object.keys(TABLES) as CountsTable[]).map(changesOf);
  // Shortening the tables could wait for their readers.
  await queries.all(`VACUUM (SKIP_LOCKED, TRUNCATE FALSE) ${tables.join(", ")}`);
}

/** Removes counts of minutes before one, at most a number of each kind. Returns how many of the kind with more. */
export async function deleteOldCounts(tx: Transaction, environment: number, before: number, limit: number) {
  let most = 0;
  for (const table of ["event_counts", "attempt_counts"] as const) {
    const old = { table, key: TABLES[table].key, where: "environment = $1 AND minute < $2" };
    most = Math.max(most, await deleteFirst(tx, old, [environment, before], limit));
  }
  return most;
}

/** Removes the counts of deleted endpoints without waiting deliveries. */
export function deleteEmptyQueues(tx: Transaction, environment: number): Promise<number> {
  return tx.run(
    `DELETE FROM pending_counts WHERE environment = $1 AND count = 0 AND NOT EXISTS (
       SELECT 1 FROM webhook_endpoints w
       WHERE w.environment = pending_counts.environment AND w.id = pending_counts.endpoint_id)`,
    [environment],
  );
}
