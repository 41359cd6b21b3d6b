import type { PostgresServer } from "../support/postgres.ts";

/** Inserts this many events, each with a delivery to an endpoint that is due now. */
export async function queueDeliveries(server: PostgresServer, database: string, count: number): Promise<void> {
  await server.query(
    `WITH target AS (SELECT environment, id, row_number() OVER (ORDER BY id) - 1 AS place FROM webhook_endpoints),
          numbers AS (SELECT n, lpad(n::text, 22, '0') AS name FROM generate_series(1, $1::int) AS n),
          made AS (
            INSERT INTO events (seq, environment, id, type, created, body)
            SELECT n, (SELECT MIN(environment) FROM target), 'evt_' || name, 'order.completed', 0, '{"id":"evt_' || name || '"}'
            FROM numbers)
     INSERT INTO deliveries (id, environment, event_id, event_type, endpoint_id, status, attempt_count, next_attempt, created)
     SELECT 'dlv_' || name, t.environment, 'evt_' || name, 'order.completed', t.id, 'pending', 0, 0,
            CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)
     FROM numbers JOIN target t ON t.place = n % (SELECT COUNT(*) FROM target)`,
    [count],
    database,
  );
}

/** Returns the number of deliveries by status. */
export async function countDeliveries(server: PostgresServer, database: string): Promise<Record<string, number>> {
  const rows = await server.query<{ status: string; count: string }>(
    "SELECT status, COUNT(*) AS count FROM deliveries GROUP BY status",
    [],
    database,
  );
  return Object.fromEntries(rows.map(({ status, count }) => [status, Number(count)]));
}
