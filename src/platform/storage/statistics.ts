import { lowestIdAt } from "../../contract/ids.ts";
import type { Queries } from "./database.ts";

/** Upper bounds of the latency histogram, in milliseconds; no attempt takes longer than the last. */
export const LATENCY_BOUNDS = [5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000] as const;

/** Attempts of one minute that have receiver, outcome and latency bucket in common. */
export interface AttemptGroup {
  /** Unix minutes. */
  minute: number;
  endpoint_id: string | null;
  status_code: number | null;
  error: string | null;
  /** Index into LATENCY_BOUNDS. */
  bucket: number;
  count: number;
  last_at: number;
}

const MINUTE = 60_000;
const BUCKET = `CASE ${LATENCY_BOUNDS.map((bound, index) => `WHEN a.duration_ms <= ${bound} THEN ${index}`).join(" ")}
  ELSE ${LATENCY_BOUNDS.length - 1} END`;

/** Attempts that began in some minutes of the environment's time, from the first to the last. */
export function groupAttempts(queries: Queries, environment: number, first: number, last: number) {
  return queries.all<AttemptGroup>(
    `SELECT g.minute, g.endpoint_id, g.status_code, g.error, g.bucket, COUNT(*) AS count, MAX(g.at) AS last_at
     FROM (SELECT a.at / ${MINUTE} AS minute, d.endpoint_id, a.status_code, a.error, a.at, ${BUCKET} AS bucket
           FROM attempts a JOIN deliveries d ON d.id = a.delivery_id
           WHERE a.at >= $2 AND a.at < $3 AND d.environment = $1) AS g
     GROUP BY g.minute, g.endpoint_id, g.status_code, g.error, g.bucket`,
    [environment, first * MINUTE, (last + 1) * MINUTE],
  );
}

/** Events of each of some minutes, counted in the index of their ids. */
export async function countEvents(queries: Queries, environment: number, minutes: readonly number[]) {
  const places = minutes.map((_, index) => `($${2 * index + 2}, $${2 * index + 3})`).join(", ");
  const bound = (minute: number) => lowestIdAt("event", minute * MINUTE);
  const rows = await queries.all<{ lowest: string; count: number }>(
    `SELECT m.column1 AS lowest, (
       SELECT COUNT(*) FROM events e WHERE e.environment = $1 AND e.id >= m.column1 AND e.id < m.column2) AS count
     FROM (VALUES ${places}) AS m`,
    [environment, ...minutes.flatMap((minute) => [bound(minute), bound(minute + 1)])],
  );
  const counts = new Map(rows.map(({ lowest, count }) => [lowest, count]));
  return minutes.map((minute) => counts.get(bound(minute)) ?? 0);
}

/** Pending deliveries of the environment, or of one of its endpoints, counted up to a most. */
export async function countWaiting(queries: Queries, environment: number, endpoint: string | undefined, most: number) {
  const ofEndpoint = endpoint === undefined ? "" : "AND endpoint_id = $3";
  const row = await queries.get<{ count: number }>(
    `SELECT COUNT(*) AS count FROM (
       SELECT 1 AS one FROM deliveries WHERE environment = $1 AND status = 'pending' ${ofEndpoint} LIMIT $2) AS waiting`,
    endpoint === undefined ? [environment, most] : [environment, most, endpoint],
  );
  return row?.count ?? 0;
}
