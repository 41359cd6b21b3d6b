import { lowestIdAt } from "../src/contract/ids.ts";
import { countFolder } from "../src/platform/maintenance/retention.ts";
import type { Database } from "../src/platform/storage/database.ts";

const DAY = 86_400_000;
export const SPAN = 29 * DAY;
/** PostgreSQL numbers up to 1,024 events of a transaction. */
const UNIT = 500;
const ENDPOINTS = 50;

const NUMBERS = `WITH RECURSIVE numbers (n) AS (
  SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < CAST($1 AS INTEGER))`;
const numbered = (prefix: string) => `${prefix} || substr(CAST(1000000 + n AS TEXT), 2)`;
const endpoint = `'we_' || substr(CAST(1000 + n % ${ENDPOINTS} AS TEXT), 2)`;

/**
 * Fills an environment by SQL, since requests would take hours: with events of the last 29 days, each with a delivery and
 * an attempt, those of the last 6 days with a request, and with deliveries to 50 endpoints that wait.
 */
export async function fillEvents(
  database: Database,
  environment: number,
  { now, past, waiting }: { now: number; past: number; waiting: number },
): Promise<void> {
  /** Inserts events created at a time, with deliveries, and attempts unless the deliveries are pending. */
  async function insertUnit(created: number, count: number, status: "succeeded" | "pending"): Promise<void> {
    const [event, delivery, request] = (["event", "delivery", "request"] as const).map((kind) =>
      lowestIdAt(kind, created).slice(0, -6),
    ) as [string, string, string];
    const attempts = status === "pending" ? 0 : 1;
    const due = status === "pending" ? created : null;
    await database.write(async (tx) => {
      await tx.run(
        `INSERT INTO events (environment, id, type, object_id, created, body)
         ${NUMBERS} SELECT ${environment}, ${numbered("$2")}, 'order.created', 'ord_' || substr(CAST(1000 + n AS TEXT), 2),
           CAST($3 AS BIGINT), $4 FROM numbers ORDER BY n`,
        [count, event, created, JSON.stringify({ data: "x".repeat(400) })],
      );
      await tx.run(
        `INSERT INTO deliveries (id, environment, event_id, event_type, endpoint_id, status, attempt_count, next_attempt, created)
         ${NUMBERS} SELECT ${numbered("$2")}, ${environment}, ${numbered("$3")}, 'order.created', ${endpoint},
           $4, CAST($5 AS INTEGER), CAST($6 AS BIGINT), CAST($7 AS BIGINT) FROM numbers ORDER BY n`,
        [count, delivery, event, status, attempts, due, created],
      );
      if (attempts === 0) return;
      await tx.run(
        `INSERT INTO attempts (delivery_id, number, at, status_code, duration_ms, request_headers, response_headers)
         ${NUMBERS} SELECT ${numbered("$2")}, 1, CAST($3 AS BIGINT), 200, 12, $4, $5 FROM numbers ORDER BY n`,
        [
          count,
          delivery,
          created,
          JSON.stringify({ header: "x".repeat(300) }),
          JSON.stringify({ header: "x".repeat(200) }),
        ],
      );
      if (created < now - 6 * DAY) return;
      await tx.run(
        `INSERT INTO request_logs (environment, id, method, path, status, duration_us)
         ${NUMBERS} SELECT ${environment}, ${numbered("$2")}, 'POST', '/v1/orders', 201, 900 FROM numbers ORDER BY n`,
        [count, request],
      );
    });
  }

  /** The platform does so every second. */
  const fold = countFolder(database);
  const foldCounts = () => fold(new AbortController().signal);

  for (let first = 0; first < past; first += UNIT) {
    const created = Math.floor(now - SPAN + (first / past) * (SPAN - 60_000));
    await insertUnit(created, Math.min(UNIT, past - first), "succeeded");
    await foldCounts();
  }
  for (let added = 0; added < waiting; added += UNIT) await insertUnit(now - waiting + added, UNIT, "pending");
  await foldCounts();
  if (database.dialect === "postgres") await database.write((tx) => tx.run("ANALYZE"));
}
