import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadSqlite } from "../../src/platform/storage/sqlite/runtime.ts";
import { startLine } from "../postgres/line.ts";
import { type Api, apiOf, type ApiResponse } from "../support/api.ts";
import { type RunningPlatform, startNode } from "../support/platform.ts";
import { usePostgres } from "../support/postgres.ts";

/**
 * The other limits are longer than a test may take. On a busy machine other requests may also take longer than this, so
 * what must succeed is repeated.
 */
const FLAGS = ["--request-timeout", "1", "--database-timeout", "900"];
const UNCHANGED = "The platform could not respond within 1 s; nothing was changed.";
const UNCERTAIN = expect.stringMatching(/within 1 s. The change may or may not have been made.*Idempotency-Key/);

const ORDER = { amount: 1, currency: "EUR" };
const once = { "Idempotency-Key": "once" };

function expectUnavailable({ status, body, headers }: ApiResponse, detail: string): void {
  expect([status, body.code, body.detail, headers.get("retry-after")]).toEqual([503, "unavailable", detail, "1"]);
}

const amountsIn = async (api: Api) =>
  ((await api("GET", "/v1/orders")).body.data as { amount: number }[]).map(({ amount }) => amount);

describe("requests that wait for PostgreSQL", () => {
  let server: Awaited<ReturnType<typeof usePostgres>>;
  let database: string;
  let node: RunningPlatform;
  let api: Api;

  beforeAll(async () => {
    server = await usePostgres();
    database = await server.createDatabase();
    // One connection writes.
    node = await startNode(database, [...FLAGS, "--database-pool", "2"]);
    api = apiOf(node.baseUrl, node.sandboxKey);
  });
  afterAll(async () => {
    await node.stop();
    await server.remove();
  });

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

  it("get 503, and are not carried out later, whether or not they had begun", async () => {
    await whileLocked("LOCK TABLE orders IN EXCLUSIVE MODE", async () => {
      const requests = [2, 3, 4].map((amount) => api("POST", "/v1/orders", { ...ORDER, amount }));
      const keyed = api("POST", "/v1/orders", { ...ORDER, amount: 5 }, once);
      for (const response of await Promise.all([...requests, keyed])) expectUnavailable(response, UNCHANGED);
      await expect.poll(() => amountsIn(api)).toEqual([]);
    });
    const repeated = () => api("POST", "/v1/orders", { ...ORDER, amount: 5 }, once);
    await expect.poll(async () => (await repeated()).status).toBe(201);
    await expect.poll(() => amountsIn(api)).toEqual([5]);
  });

  it("get 503 for reads, while streams continue", async () => {
    const stop = new AbortController();
    const headers = { Authorization: `Bearer ${node.sandboxKey}` };
    const open = () => fetch(`${node.baseUrl}/v1/events/stream`, { headers, signal: stop.signal });
    let response = await open();
    while (!response.ok) response = await open();
    let streamed = "";
    const reading = (async () => {
      for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) streamed += chunk;
    })().catch(() => {});
    await whileLocked("LOCK TABLE orders IN ACCESS EXCLUSIVE MODE", async () => {
      expectUnavailable(await api("GET", "/v1/orders"), UNCHANGED);
    });
    await expect.poll(async () => (await api("POST", "/v1/orders", ORDER)).status).toBe(201);
    await expect.poll(() => streamed).toContain("order.created");
    stop.abort();
    await reading;
  });

  it("report that a change whose commit had begun may have been made, and a retry returns the result", async () => {
    await server.query(
      `CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS
         'BEGIN PERFORM pg_advisory_xact_lock_shared(7); RETURN NULL; END';
       CREATE CONSTRAINT TRIGGER waits AFTER INSERT ON orders DEFERRABLE INITIALLY DEFERRED
         FOR EACH ROW EXECUTE FUNCTION wait()`,
      [],
      database,
    );
    const order = () => api("POST", "/v1/orders", { ...ORDER, amount: 7 }, { "Idempotency-Key": "seven" });
    await whileLocked("SELECT pg_advisory_xact_lock(7)", async () => {
      await expect.poll(async () => (await order()).body.detail).toEqual(UNCERTAIN);
    });
    await expect.poll(async () => (await order()).headers.get("idempotent-replayed")).toBe("true");
    await expect.poll(async () => (await amountsIn(api)).filter((amount) => amount === 7)).toEqual([7]);
  });

  it("get 503 if nothing reaches the server any more", async () => {
    const line = await startLine(database);
    const alone = await startNode(line.url, [...FLAGS, "--role", "api"]);
    const call = apiOf(alone.baseUrl, node.sandboxKey);
    await expect.poll(async () => (await call("GET", "/v1/orders")).status).toBe(200);
    line.fallSilent();
    const responses = await Promise.all([
      call("GET", "/v1/orders"),
      call("POST", "/v1/orders", ORDER),
      call("POST", "/v1/test_clock/advance", { seconds: 60 }),
      call("GET", "/v1/events/stream"),
    ]);
    for (const response of responses) expectUnavailable(response, UNCHANGED);
    await alone.kill();
    line.close();
  });
});

it("a request that waits for another program's lock on the SQLite file gets 503, and is not carried out later", async () => {
  const folder = mkdtempSync(join(tmpdir(), "service-deadline-"));
  const file = join(folder, "platform.db");
  const platform = await startNode(file, FLAGS);
  const api = apiOf(platform.baseUrl, platform.sandboxKey);
  const { DatabaseSync } = await loadSqlite();
  const other = new DatabaseSync(file);
  other.exec("BEGIN IMMEDIATE");
  expectUnavailable(await api("POST", "/v1/orders", { ...ORDER, amount: 2 }), UNCHANGED);
  other.close();
  await expect.poll(async () => (await api("POST", "/v1/orders", { ...ORDER, amount: 3 })).status).toBe(201);
  await expect.poll(() => amountsIn(api)).toEqual([3]);
  await platform.stop();
  rmSync(folder, { recursive: true, force: true });
});
