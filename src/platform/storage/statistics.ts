import { lowestIdAt } from "../../contract/ids.ts";
import type { Queries } from "./database.ts";

/** Upper bounds of the latency histogram, in milliseconds; no attempt takes longer than the last. */
export const LATENCY_BOUNDS = [5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000] as const;

/** Attempts that have receiver, outcome and latency bucket in common. */
export interface AttemptGroup {
  endpoint_id: string | null;
  status_code: number | null;
  error: string | null;
  /** Index into LATENCY_BOUNDS. */
  bucket: number;
  count: number;
  last_at: number;
}

const BUCKET = `CASE ${LATENCY_BOUNDS.map((bound, index) => `WHEN a.duration_ms <= ${bound} THEN ${index}`).join(" ")}
  ELSE ${LATENCY_BOUNDS.length - 1} END`;

/** Attempts that began in a stretch of the environment's time, the end excluded. */
export function groupAttempts(queries: Queries, environment: number, from: number, to: number) {
  return queries.all<AttemptGroup>(
    `SELECT g.endpoint_id, g.status_code, g.error, g.bucket, COUNT(*) AS count, MAX(g.at) AS last_at
     FROM (SELECT d.endpoint_id, a.status_code, a.error, a.at, ${BUCKET} AS bucket
           FROM attempts a JOIN deliveries d ON d.id = a.delivery_id
           WHERE a.at >= $2 AND a.at < $3 AND d.environment = $1) AS g
     GROUP BY g.endpoint_id, g.status_code, g.error, g.bucket`,
    [environment, from, to],
  );
}

/** Events of a stretch of the environment's time, counted in the index of their ids. */
export async function countEvents(queries: Queries, environment: number, from: number, to: number): Promise<number> {
  const row = await queries.get<{ count: number }>(
    "SELECT COUNT(*) AS count FROM events WHERE environment = $1 AND id >= $2 AND id < $3",
    [environment, lowestIdAt("event", from), lowestIdAt("event", to)],
  );
  return row?.count ?? 0;
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
