// A PostgreSQL server for the benchmarks with default settings: every commit reaches the disk. Commands are JSON lines.
import { createInterface } from "node:readline";
import { queueDeliveries } from "../test/postgres/queue.ts";
import { startPostgres } from "../test/support/postgres.ts";

interface Order {
  create?: true;
  queue?: number;
  sql?: string;
  url?: string;
}

const server = await startPostgres(["shared_buffers=256MB", "max_connections=200"]);
const say = (value: unknown) => process.stdout.write(`${JSON.stringify(value)}\n`);

async function carryOut({ create, queue, sql, url }: Order): Promise<unknown> {
  if (create === true) return server.createDatabase();
  if (queue !== undefined) return queueDeliveries(server, url!, queue);
  return server.query(sql!, [], url);
}

say({ url: server.url });
for await (const line of createInterface(process.stdin)) say((await carryOut(JSON.parse(line) as Order)) ?? null);
await server.remove();
