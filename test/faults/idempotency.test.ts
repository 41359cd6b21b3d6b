import { connect } from "node:net";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { once } from "node:events";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Connection } from "../../src/platform/storage/sqlite/connection.ts";
import { loadSqlite, type SqliteRuntime } from "../../src/platform/storage/sqlite/runtime.ts";
import { type RunningPlatform, startPlatformOn } from "../support/platform.ts";
import { volume } from "../support/volume.ts";
import { findViolations } from "../invariants/invariants.ts";
import { figure } from "../platform/delivery/support/figures.ts";

const ROUNDS = volume(200, 4);
/** Number of platforms that are killed in parallel, each with its own database: a round mostly waits for a restart. */
const WORKERS = 3;
/** Responses that together fill every buffer between the platform and a client that does not read. */
const CLOG = { responses: 8, bytes: 900_000 };

let folder: string;
let sqlite: SqliteRuntime;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "service-idempotency-"));
  sqlite = await loadSqlite();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Worker {
  database: string;
  /** The ID of the sandbox environment. */
  environment: number;
  platform: RunningPlatform;
  /** An event with a large response. */
  event: string;
  requests: number;
  /** The expected events of its writes. */
  acknowledged: Set<string>;
}

const list = async (platform: RunningPlatform, path: string) => {
  const found: { amount: number }[] = [];
  for (let cursor = ""; ;) {
    const { body } = await platform.api("GET", `${path}limit=100${cursor}`);
    found.push(...body.data);
    if (body.next_cursor === null) return found;
    cursor = `&cursor=${body.next_cursor}`;
  }
};

function sandboxOf(database: string): number {
  const reader = new Connection(sqlite, database, { readOnly: true });
  const { id } = reader.get("SELECT id FROM environments WHERE name = 'sandbox'") as { id: number };
  reader.close();
  return id;
}

/** HTTP/1.1 requests on one connection, pipelined without waiting for responses. */
function pipelined({ platform, event }: Worker, amount: number): string {
  const body = JSON.stringify({ amount, currency: "EUR" });
  const headers = `Host: localhost\r\nAuthorization: Bearer ${platform.sandboxKey}\r\n`;
  const json = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\nIdempotency-Key: ${amount}\r\n`;
  return `${`GET /v1/events/${event} HTTP/1.1\r\n${headers}\r\n`.repeat(CLOG.responses)}POST /v1/orders HTTP/1.1\r\n${headers}${json}\r\n${body}`;
}

/**
 * Kills the platform between a request's commit and its response. HTTP/1.1 sends responses in order, so large earlier
 * responses to a client that does not read hold this one back. The test sees the commit in the database. Resolves with
 * the bytes that the platform sent.
 */
async function killBeforeResponse(worker: Worker, amount: number): Promise<string> {
  const { database, environment, platform } = worker;
  const socket = connect(Number(new URL(platform.baseUrl).port), "127.0.0.1").setEncoding("latin1");
  socket.on("error", () => {});
  socket.pause();
  await once(socket, "connect");
  socket.write(pipelined(worker, amount));
  const reader = new Connection(sqlite, database, { readOnly: true });
  const sql = "SELECT count(*) AS stored FROM idempotency_keys WHERE environment = $1 AND path = '/v1/orders'";
  await expect.poll(() => reader.get(sql, [environment])?.["stored"], { interval: 2 }).toBe(worker.requests);
  reader.close();
  await platform.kill();
  let received = "";
  socket.on("data", (text: string) => (received += text));
  await new Promise((resolve) => {
    socket.once("close", resolve);
    socket.resume();
  });
  return received;
}

async function round(worker: Worker): Promise<void> {
  const amount = ++worker.requests;
  const received = await killBeforeResponse(worker, amount);
  expect(received).toMatch(/^HTTP\/1\.1 200 /);
  expect(received).not.toContain("HTTP/1.1 201 ");
  worker.platform = await startPlatformOn(worker.database);
  const again = () =>
    worker.platform.api("POST", "/v1/orders", { amount, currency: "EUR" }, { "Idempotency-Key": String(amount) });
  const [first, second] = [await again(), await again()];
  expect(first).toMatchObject({ status: 201, body: { object: "order", amount } });
  expect(first.headers.get("idempotent-replayed")).toBe("true");
  worker.acknowledged.add(`order.created ${first.body.id}`);
  expect(second).toMatchObject({ status: 201, body: first.body });
  expect((await worker.platform.api("GET", `/v1/orders/${first.body.id}`)).body).toEqual(first.body);
}

it(`the platform creates each order once and returns one response although it is killed ${ROUNDS} times between commit and response`, async () => {
  let startedCount = 0;
  const began = performance.now();
  await Promise.all(
    Array.from({ length: WORKERS }, async (_lane, index) => {
      const database = join(folder, `lane-${index}.db`);
      const platform = await startPlatformOn(database);
      const data = { id: "large", filler: "x".repeat(CLOG.bytes) };
      const { body } = await platform.api("POST", "/v1/events", { type: "payment.failed", data });
      const acknowledged = new Set([`${body.type} ${data.id}`]);
      const environment = sandboxOf(database);
      const worker: Worker = { database, environment, platform, event: body.id, requests: 0, acknowledged };
      while (startedCount++ < ROUNDS) await round(worker);
      const each = Array.from({ length: worker.requests }, (_order, order) => order + 1);
      const amounts = (await list(worker.platform, "/v1/orders?")).map(({ amount }) => amount);
      expect(amounts.toSorted((a, b) => a - b)).toEqual(each);
      expect(await findViolations({ api: worker.platform.api, acknowledged, createdByHand: true })).toEqual([]);
      expect(await worker.platform.stop()).toBe(0);
    }),
  );
  const seconds = ((performance.now() - began) / 1000).toFixed(0);
  figure(`${ROUNDS} kills between a commit and its response: one order and one response each (${seconds} s)`);
});

it("50 concurrent requests with one key have one effect", async () => {
  const platform = await startPlatformOn(join(folder, "at-once.db"));
  const headers = { "Idempotency-Key": "one" };
  const post = () => platform.api("POST", "/v1/orders", { amount: 1, currency: "EUR" }, headers);
  const responses = await Promise.all(Array.from({ length: 50 }, post));
  const created = responses.filter(({ status }) => status === 201);
  const rejected = responses.filter(({ status }) => status !== 201);
  expect(created.length).toBeGreaterThan(0);
  expect(created.filter((response) => response.headers.get("idempotent-replayed") === null)).toHaveLength(1);
  expect(new Set(created.map(({ body }) => body.id)).size).toBe(1);
  expect(new Set(rejected.map(({ body }) => body.code)).size).toBeLessThanOrEqual(1);
  for (const response of rejected) {
    expect(response).toMatchObject({ status: 409, body: { code: "idempotency_in_flight" } });
    expect(response.headers.get("retry-after")).toBe("1");
  }
  expect((await post()).body.id).toBe(created[0]!.body.id);
  expect(await list(platform, "/v1/orders?")).toHaveLength(1);
  expect(await list(platform, "/v1/events?")).toHaveLength(1);
  expect(await platform.stop()).toBe(0);
});
