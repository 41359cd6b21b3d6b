import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { Client } from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type ScriptedReceiver, startScriptedReceiver } from "../platform/delivery/support/scripted-receiver.ts";
import type { Delivery } from "../../src/contract/schemas/delivery.ts";
import { type Api, apiOf } from "../support/api.ts";
import { type RunningPlatform, type ServedPlatform, serveNode, startNode } from "../support/platform.ts";
import { type PostgresServer, usePostgres } from "../support/postgres.ts";

const SECONDS = 60;

let server: PostgresServer & { remove(): Promise<void> };
let database: string;
let nodes: [RunningPlatform, ServedPlatform];
let apis: Api[];
let sandboxKey: string;
let receiver: ScriptedReceiver;
/** The pending response to the second attempt, which the advance made due. */
let retried: ServerResponse | undefined;

beforeAll(async () => {
  server = await usePostgres();
  database = await server.createDatabase();
  const first = await startNode(database);
  nodes = [first, await serveNode(database)];
  ({ sandboxKey } = first);
  apis = nodes.map((node) => apiOf(node.baseUrl, sandboxKey));
  receiver = await startScriptedReceiver((request, response) => {
    if (request.headers["service-delivery-attempt"] === "1") response.writeHead(500).end();
    else retried = response;
  });
  await apis[0]!("POST", "/v1/webhook_endpoints", { url: receiver.url, events: ["*"] });
});
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop()));
  await receiver.close();
  await server.remove();
});

const advance = (node: number, seconds: number, key: string) =>
  apis[node]!("POST", "/v1/test_clock/advance", { seconds }, { "Idempotency-Key": key });
const clock = async (node = 1) => (await apis[node]!("GET", "/v1/test_clock")).body;
const arrived = () => expect.poll(async () => (await clock()).status).toBe("idle");
const newest = async () => (await apis[0]!("GET", "/v1/deliveries?limit=1")).body.data[0] as Delivery;

/** Creates a delivery whose first attempt fails, and whose second waits for the test's response. */
async function failOnce(): Promise<void> {
  const attempts = receiver.received.length;
  await apis[0]!("POST", "/v1/orders", { amount: 1, currency: "EUR" });
  await receiver.until(attempts + 1);
  await expect.poll(async () => (await newest()).attempt_count).toBe(1);
}

it("an advance of the test clock with an idempotency key runs once at any process, and all processes follow it", async () => {
  const before = (await clock()).offset_seconds as number;
  await failOnce();
  const attempts = receiver.received.length;
  const first = advance(0, SECONDS, "the-same");
  await receiver.until(attempts + 1);
  for (const node of [0, 1]) {
    expect((await advance(node, SECONDS, "another")).body.code).toBe("test_clock_advancing");
  }
  for (const again of await Promise.all([0, 1].map((node) => advance(node, SECONDS, "the-same")))) {
    expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([202, "true"]);
    expect(again.body).toMatchObject({ status: "advancing", attempts: 0, remaining: 1 });
  }
  expect((await first).status).toBe(202);

  retried!.end();
  await arrived();
  const [one, other] = await Promise.all([0, 1].map((node) => advance(node, SECONDS, "the-same")));
  expect(one!.body).toEqual(other!.body);
  expect([one!.status, one!.headers.get("idempotent-replayed")]).toEqual([200, "true"]);
  const { attempts: recorded } = (await apis[0]!("GET", `/v1/deliveries/${(await newest()).id}`)).body;
  expect({ ...one!.body, recorded }).toMatchObject({
    attempts: 1,
    succeeded: 1,
    remaining: 0,
    offset_seconds: before + SECONDS,
    recorded: [{ status_code: 500 }, { status_code: 200 }],
  });
  expect(await clock()).toMatchObject({ offset_seconds: before + SECONDS });
  expect(receiver.received).toHaveLength(attempts + 1);
});

it("an advance counts an attempt that ends while it writes its progress", async () => {
  await failOnce();
  const attempts = receiver.received.length;
  const advanced = advance(0, SECONDS, "writing");
  await receiver.until(attempts + 1);
  const other = new Client({ connectionString: database });
  await other.connect();
  await other.query("BEGIN; SELECT id FROM environments FOR UPDATE");
  const waiting = `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
    AND query LIKE 'UPDATE environments%'`;
  await expect.poll(async () => server.query(waiting, [], database)).toHaveLength(1);
  const { socket } = retried!;
  const isClosed = once(socket!, "close");
  // The platform closes the connection after it has read the whole response.
  socket!.write("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
  await isClosed;
  await other.query("COMMIT");
  await other.end();
  expect((await advanced).body).toMatchObject({ status: "idle", attempts: 1, succeeded: 1 });
  expect(await newest()).toMatchObject({ status: "succeeded", attempt_count: 2 });
});

it("a process that hangs for too long loses the advance to another, and neither repeats an attempt", async () => {
  const before = (await clock()).offset_seconds as number;
  await failOnce();
  const attempts = receiver.received.length;
  const slow = advance(0, SECONDS, "slow");
  await receiver.until(attempts + 1);
  const holder = async () => {
    const rows = await server.query("SELECT clock_holder FROM environments WHERE clock_held_until > 0", [], database);
    return (rows as { clock_holder: string }[])[0]?.clock_holder;
  };
  const first = await holder();
  // The lease of the clock has expired.
  await server.query("UPDATE environments SET clock_held_until = 1 WHERE clock_held_until > 0", [], database);
  const isTakenOver = async () => {
    const now = await holder();
    return now !== undefined && now !== first;
  };
  await expect.poll(isTakenOver).toBe(true);
  retried!.end();
  await slow;
  await arrived();
  expect(await clock()).toMatchObject({ offset_seconds: before + SECONDS });
  expect(await holder()).toBeUndefined();
  expect(receiver.received).toHaveLength(attempts + 1);
  // The outcome of its attempt is recorded all the same.
  expect(await newest()).toMatchObject({ status: "succeeded", attempt_count: 2 });
});

it("an advance whose process is killed continues in another one, and loses nothing", async () => {
  const before = (await clock()).offset_seconds as number;
  await failOnce();
  const attempts = receiver.received.length;
  const cut = advance(0, SECONDS, "killed").catch(() => undefined);
  await receiver.until(attempts + 1);
  await nodes[0].kill();
  await cut;
  const running = await clock();
  expect(running).toMatchObject({ status: "advancing", remaining: 1 });
  // The leases of the dead process have expired.
  await server.query("UPDATE environments SET clock_held_until = 1 WHERE clock_held_until > 0", [], database);
  await server.query("UPDATE deliveries SET lease_until = 1 WHERE lease_until IS NOT NULL", [], database);
  await receiver.until(attempts + 2);
  retried!.end();
  await arrived();
  expect(await clock()).toMatchObject({ offset_seconds: before + SECONDS, target: running.target });
  const again = await advance(1, SECONDS, "killed");
  expect([again.status, again.body.target]).toEqual([200, running.target]);
  const { data } = (await apis[1]!("GET", "/v1/deliveries?limit=1")).body;
  expect(data[0]).toMatchObject({ status: "succeeded", attempt_count: 3 });
  nodes[0] = await startNode(database);
  apis[0] = apiOf(nodes[0].baseUrl, sandboxKey);
});
