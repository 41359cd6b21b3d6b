import type { ServerResponse } from "node:http";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type ScriptedReceiver, startScriptedReceiver } from "../delivery/support/scripted-receiver.ts";
import { type Api, apiOf } from "../support/api.ts";
import { type RunningPlatform, startNode } from "../support/platform.ts";
import { type PostgresServer, usePostgres } from "../support/postgres.ts";

const SECONDS = 60;

let server: PostgresServer & { remove(): Promise<void> };
let database: string;
let nodes: RunningPlatform[];
let apis: Api[];
let receiver: ScriptedReceiver;
/** The second attempt's, which the clock is moved for. */
let retried: ServerResponse | undefined;

beforeAll(async () => {
  server = await usePostgres();
  database = await server.createDatabase();
  const first = await startNode(database);
  nodes = [first, await startNode(database)];
  apis = nodes.map((node) => apiOf(node.baseUrl, first.sandboxKey));
  receiver = await startScriptedReceiver((_request, response) => {
    if (receiver.received.length === 1) response.writeHead(500).end();
    else retried = response;
  });
});
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop()));
  await receiver.close();
  await server.remove();
});

it("a keyed advance of the test clock runs once, whichever process is asked, and the others say that it runs", async () => {
  const advance = (node: number, key: string) =>
    apis[node]!("POST", "/v1/test_clock/advance", { seconds: SECONDS }, { "Idempotency-Key": key });
  await apis[0]!("POST", "/v1/webhook_endpoints", { url: receiver.url, events: ["*"] });
  await apis[0]!("POST", "/v1/orders", { amount: 1, currency: "EUR" });
  const waiting = async () => (await apis[0]!("GET", "/v1/deliveries")).body.data[0].attempt_count as number;
  await expect.poll(waiting).toBe(1);

  const first = advance(0, "the-same");
  await receiver.until(2);
  for (const node of [0, 1]) {
    const again = await advance(node, "the-same");
    expect([again.status, again.body.code]).toEqual([409, "idempotency_in_flight"]);
    expect(again.headers.get("retry-after")).toBe("1");
    expect((await advance(node, "another")).body.code).toBe("test_clock_advancing");
  }

  retried!.end();
  const done = await first;
  expect([done.status, done.body.attempted, done.body.succeeded]).toEqual([200, 1, 1]);
  for (const node of [0, 1]) {
    const again = await advance(node, "the-same");
    expect([again.status, again.headers.get("idempotent-replayed"), again.body]).toEqual([200, "true", done.body]);
  }
  expect((await apis[1]!("GET", "/v1/test_clock")).body.offset_seconds).toBe(SECONDS);
});

it("who moves the clock and stands still for too long moves it no further once another does", async () => {
  const offset = async () => (await apis[1]!("GET", "/v1/test_clock")).body.offset_seconds as number;
  const before = await offset();
  const attempts = receiver.received.length;
  await apis[0]!("POST", "/v1/orders", { amount: 1, currency: "EUR" });
  await receiver.until(attempts + 1);
  retried!.writeHead(500).end();
  const tried = async () => (await apis[0]!("GET", "/v1/deliveries?limit=1")).body.data[0].attempt_count as number;
  await expect.poll(tried).toBe(1);

  const slow = apis[0]!("POST", "/v1/test_clock/advance", { seconds: 100 * SECONDS });
  await receiver.until(attempts + 2);
  // Its hold has run out.
  await server.query("UPDATE environments SET clock_held_until = 0", [], database);
  const other = apis[1]!("POST", "/v1/test_clock/advance", { seconds: SECONDS });
  const isHeld = async () =>
    (await server.query("SELECT id FROM environments WHERE clock_held_until > 0", [], database)).length > 0;
  await expect.poll(isHeld).toBe(true);
  retried!.end();
  expect((await slow).body).toMatchObject({ status: 409, code: "test_clock_advancing" });
  expect((await other).status).toBe(200);
  expect(await offset()).toBeLessThan(before + 100 * SECONDS);
  expect(await isHeld()).toBe(false);
  // What came of its attempt is recorded all the same.
  expect((await apis[1]!("GET", "/v1/deliveries?limit=1")).body.data[0]).toMatchObject({ attempt_count: 2 });
});
