// A PostgreSQL server for the benchmarks with default settings: every commit reaches the disk. Commands are JSON lines.
import { createInterface } from "node:readline";
import { queueDeliveries } from "../test/postgres/queue.ts";
import { startPostgres } from "../test/support/postgres.ts";

interface Order {
  create?: true;
  queue?: number;
  statements?: true;
  sql?: string;
  url?: string;
}

const SETTINGS = ["shared_buffers=256MB", "max_connections=200"];
const COUNTING = ["shared_preload_libraries=pg_stat_statements", "pg_stat_statements.track_utility=on"];
// The module is not installed everywhere.
const server = await startPostgres([...SETTINGS, ...COUNTING]).catch(() => startPostgres(SETTINGS));
const say = (value: unknown) => process.stdout.write(`${JSON.stringify(value)}\n`);

/** Returns the statements of a database since the last call, longest first; none where they are not counted. */
async function takeStatements(url: string): Promise<unknown> {
  try {
    await server.query("CREATE EXTENSION IF NOT EXISTS pg_stat_statements", [], url);
    const rows = await server.query(
      `SELECT regexp_replace(query, '\\s+', ' ', 'g') AS text, CAST(calls AS FLOAT) AS calls, total_exec_time AS ms
       FROM pg_stat_statements WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
       ORDER BY total_exec_time DESC`,
      [],
      url,
    );
    await server.query("SELECT pg_stat_statements_reset()", [], url);
    return rows;
  } catch {
    return [];
  }
}

async function carryOut({ create, queue, statements, sql, url }: Order): Promise<unknown> {
  if (create === true) return server.createDatabase();
  if (statements === true) return takeStatements(url!);
  if (queue !== undefined) return queueDeliveries(server, url!, queue);
  return server.query(sql!, [], url);
}

say({ url: server.url });
for await (const line of createInterface(process.stdin)) say((await carryOut(JSON.parse(line) as Order)) ?? null);
await server.remove();
