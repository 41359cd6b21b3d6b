import { Client } from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { countFolder } from "../../src/platform/maintenance/retention.ts";
import type { Database } from "../../src/platform/storage/database.ts";
import { MIGRATIONS } from "../../src/platform/storage/migrations/index.ts";
import { openPostgres } from "../../src/platform/storage/postgres/open.ts";
import { type ScriptedReceiver, startScriptedReceiver } from "../platform/delivery/support/scripted-receiver.ts";
import { type Api, apiOf } from "../support/api.ts";
import { changeAtRandom, expectPlainCounts } from "../support/plain-counts.ts";
import { type ServedPlatform, serveNode, startNode } from "../support/platform.ts";
import { type PostgresServer, usePostgres } from "../support/postgres.ts";
import { volume } from "../support/volume.ts";

const SEED = 20_261_122;

let server: PostgresServer & { remove(): Promise<void> };
let receiver: ScriptedReceiver;
let url: string;
let nodes: ServedPlatform[];
let key: string;
let apis: Api[];
let rows: Database;

beforeAll(async () => {
  server = await usePostgres();
  url = await server.createDatabase();
  receiver = await startScriptedReceiver((request, response) => {
    response.statusCode = { "/refuses": 503, "/gone": 410 }[request.path] ?? 200;
    response.end();
  });
  const first = await serveNode(url);
  nodes = [first, await startNode(url)];
  key = first.sandboxKey;
  apis = nodes.map(({ baseUrl }) => apiOf(baseUrl, key));
  rows = await openPostgres({ url, migrations: MIGRATIONS, migrate: false });
});
afterAll(async () => {
  await rows.close();
  await Promise.all(nodes.map((node) => node.stop()));
  await receiver.close();
  await server.remove();
});

const unfolded = async () => {
  const tables = ["event", "attempt", "pending"].map((of) => `(SELECT COUNT(*) FROM ${of}_count_changes)`);
  return (await rows.get<{ count: number }>(`SELECT ${tables.join(" + ")} AS count`))!.count;
};

it("two processes that write concurrently count each row once, before and after aggregation", async () => {
  const [one, two] = await Promise.all([
    changeAtRandom(apis, receiver.url, SEED, volume(1_000, 40)),
    changeAtRandom(apis, receiver.url, SEED + 1, volume(1_000, 40)),
  ]);
  for (const api of apis) await expectPlainCounts(rows, api, [...one, ...two]);
  await expect.poll(unfolded).toBe(0);
  for (const api of apis) await expectPlainCounts(rows, api, [...one, ...two]);
});

it("the change tables do not grow with the number of events", async () => {
  const database = await openPostgres({ url: await server.createDatabase(), migrations: MIGRATIONS });
  const fold = countFolder(database);
  const pages: number[] = [];
  for (let round = 0; round < 6; round++) {
    await database.write((tx) =>
      tx.run(
        "INSERT INTO event_count_changes (environment, minute, count) SELECT 1, n, 1 FROM generate_series(1, 10000) AS n",
      ),
    );
    await fold(new AbortController().signal);
    const sql = "SELECT pg_relation_size('event_count_changes') / 8192 AS pages";
    pages.push((await database.get<{ pages: number }>(sql))!.pages);
  }
  await database.close();
  expect(Math.max(...pages)).toBeLessThan(3 * pages[0]!);
});

it("a process that is killed while it writes leaves exact counts", async () => {
  const stopped = await startNode(url);
  const api = apiOf(stopped.baseUrl, key);
  await apis[0]!("POST", "/v1/webhook_endpoints", { url: `${receiver.url}/takes`, events: ["*"] });
  const received = receiver.received.length;
  const orders = Array.from({ length: 200 }, () =>
    api("POST", "/v1/orders", { amount: 1, currency: "EUR" }).catch(() => undefined),
  );
  await receiver.until(received + 20);
  await stopped.kill();
  await Promise.all(orders);
  await expectPlainCounts(rows, apis[0]!);
  await expect.poll(unfolded).toBe(0);
  await expectPlainCounts(rows, apis[0]!);
});

it("transactions that add deliveries to the same endpoint do not wait for each other", async () => {
  const [sandbox] = await server.query<{ id: number }>("SELECT id FROM environments WHERE name = 'sandbox'", [], url);
  const clients = [1, 2].map(() => new Client({ connectionString: url, options: "-c lock_timeout=5s" }));
  await Promise.all(clients.map((client) => client.connect()));
  for (const [index, client] of clients.entries()) {
    await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ");
    await client.query(
      `INSERT INTO deliveries (id, environment, event_id, event_type, endpoint_id, status, attempt_count, created)
       VALUES ($1, $2, 'evt', 'order.created', 'we_none', 'pending', 0, 1)`,
      [`dlv_held_${index}`, sandbox!.id],
    );
  }
  for (const client of clients) {
    await client.query("COMMIT");
    await client.end();
  }
  await expectPlainCounts(rows, apis[0]!);
});
