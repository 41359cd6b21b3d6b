import type { ServerResponse } from "node:http";
import { Client } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { figure } from "../platform/delivery/support/figures.ts";
import { startScriptedReceiver } from "../platform/delivery/support/scripted-receiver.ts";
import { type Api, apiOf, type ApiResponse } from "../support/api.ts";
import { type ServedPlatform, serveNode } from "../support/platform.ts";
import { type PostgresServer, usePostgres } from "../support/postgres.ts";

const AT_ONCE = 60;
const STATEMENT_SECONDS = 1;

let server: PostgresServer & { remove(): Promise<void> };
let database: string;
let node: ServedPlatform;
let api: Api;

beforeAll(async () => {
  server = await usePostgres();
});
beforeEach(async () => {
  database = await server.createDatabase();
  node = await serveNode(database, ["--database-pool", "3", "--database-timeout", String(STATEMENT_SECONDS)]);
  api = apiOf(node.baseUrl, node.sandboxKey);
});
afterEach(() => node.stop());
afterAll(() => server.remove());

const order = () => api("POST", "/v1/orders", { amount: 1, currency: "EUR" });
const orders = () => api("GET", "/v1/orders?limit=1");

/** Runs requests while another program's transaction holds a lock. */
async function whileLocked<Result>(lock: string, run: () => Promise<Result>): Promise<Result> {
  const other = new Client({ connectionString: database });
  await other.connect();
  await other.query(`BEGIN; ${lock}`);
  try {
    return await run();
  } finally {
    await other.end();
  }
}

async function assertRejected(requests: readonly Promise<ApiResponse>[]): Promise<void> {
  const began = performance.now();
  const times = requests.map(async (request) => {
    await request;
    return (performance.now() - began) / 1000;
  });
  for (const { status, body, headers } of await Promise.all(requests)) {
    expect([status, body.code]).toEqual([503, "unavailable"]);
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
  }
  const longest = Math.max(...(await Promise.all(times)));
  figure(
    `${requests.length} requests for 3 connections that a lock holds up: 503 after ${longest.toFixed(1)} s at most`,
  );
}

it("writers without a connection get 503 after a timeout, and none of their changes is made", async () => {
  const created = await order();
  await whileLocked("LOCK TABLE orders IN EXCLUSIVE MODE", async () => {
    const writes = Array.from({ length: AT_ONCE }, (_, i) =>
      i % 2 === 0 ? order() : api("POST", `/v1/orders/${created.body.id}/complete`),
    );
    await assertRejected(writes);
    expect((await orders()).status).toBe(200);
  });
  expect((await order()).status).toBe(201);
  const rows = await server.query("SELECT status FROM orders", [], database);
  expect(rows).toEqual([{ status: "pending" }, { status: "pending" }]);
});

it("readers behind blocked statements get 503 after a timeout", async () => {
  await whileLocked("LOCK TABLE orders IN ACCESS EXCLUSIVE MODE", async () => {
    await assertRejected(Array.from({ length: AT_ONCE }, orders));
  });
  await expect.poll(async () => (await orders()).status).toBe(200);
  expect((await api("GET", "/readyz")).status).toBe(200);
});

it("a stop records the attempts in flight although the database failed meanwhile", async () => {
  const responses: ServerResponse[] = [];
  const receiver = await startScriptedReceiver((_request, response) => void responses.push(response));
  expect((await api("POST", "/v1/webhook_endpoints", { url: receiver.url, events: ["*"] })).status).toBe(201);
  expect((await order()).status).toBe(201);
  expect((await order()).status).toBe(201);
  await receiver.until(2);
  const waiting = async () => {
    const sql = `SELECT pid FROM pg_stat_activity
      WHERE wait_event_type = 'Lock' AND query LIKE 'INSERT INTO attempts%' AND datname = current_database()`;
    return (await server.query(sql, [], database)).length;
  };
  const stopped = await whileLocked("LOCK TABLE attempts IN EXCLUSIVE MODE", async () => {
    const stopping = node.stop();
    responses[0]!.end();
    await expect.poll(waiting).toBe(1);
    // The statement has timed out.
    await expect.poll(waiting).toBe(0);
    return { stopping };
  });
  responses[1]!.end();
  expect(await stopped.stopping).toBe(0);
  const sql = "SELECT status, attempt_count FROM deliveries";
  const succeeded = { status: "succeeded", attempt_count: 1 };
  expect(await server.query(sql, [], database)).toEqual([succeeded, succeeded]);
  await receiver.close();
});
