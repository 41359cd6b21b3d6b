import type { ServerResponse } from "node:http";
import { afterAll, beforeAll, expect, it } from "vitest";
import { listenTo } from "../delivery/support/listen-socket.ts";
import { startScriptedReceiver } from "../delivery/support/scripted-receiver.ts";
import { type Api, apiOf } from "../support/api.ts";
import { type RunningPlatform, startNode } from "../support/platform.ts";
import { type PostgresServer, usePostgres } from "../support/postgres.ts";
import { startLine } from "./line.ts";

const WAKES = "FROM pg_stat_activity WHERE application_name = 'service wakes' AND datname = current_database()";

let server: PostgresServer & { remove(): Promise<void> };
let line: Awaited<ReturnType<typeof startLine>>;
let database: string;
let node: RunningPlatform;
let api: Api;

beforeAll(async () => {
  server = await usePostgres();
  database = await server.createDatabase();
  line = await startLine(database);
  node = await startNode(line.url);
  api = apiOf(node.baseUrl, node.sandboxKey);
});
afterAll(async () => {
  await node.kill();
  line.close();
  await server.remove();
});

it("a change whose commit was not answered may have been made: the reply says so, and its repetition finds it", async () => {
  const order = () => api("POST", "/v1/orders", { amount: 1, currency: "EUR" }, { "Idempotency-Key": "once" });
  // The server's answer.
  line.state.breaksAt = "COMMIT\0";
  const lost = await order();
  line.state.breaksAt = undefined;
  expect([lost.status, lost.body.code, lost.headers.get("retry-after")]).toEqual([503, "unavailable", "1"]);
  expect(lost.body.detail).toMatch(/may have been made or not.*Idempotency-Key/);
  const again = await order();
  expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([201, "true"]);
  const orders = await api("GET", "/v1/orders");
  expect(orders.body.data.map(({ id }: { id: string }) => id)).toEqual([again.body.id]);
});

it("a listener's outcome whose commit was not answered is recorded once", async () => {
  const listener = await listenTo(node.baseUrl, node.sandboxKey);
  await api("POST", "/v1/orders", { amount: 1, currency: "EUR" });
  await listener.until(1);
  const { broken } = line.state;
  line.state.breaksAt = "COMMIT\0";
  listener.ack(1);
  await expect.poll(() => line.state.broken).toBeGreaterThan(broken);
  line.state.breaksAt = undefined;
  const event = listener.events[0]!.id;
  const deliveries = async () => (await api("GET", `/v1/deliveries?event=${event}`)).body.data;
  await expect.poll(deliveries).toHaveLength(1);
  // A second outcome of the same listener is recorded behind whatever became of the first.
  await api("POST", `/v1/events/${event}/replay`);
  await listener.until(2);
  listener.ack(2);
  await expect.poll(async () => (await deliveries())[0].attempt_count).toBeGreaterThan(1);
  expect((await deliveries())[0].attempt_count).toBe(2);
  await listener.close();
});

it("a connection for waking that is lost while it is made leaves no second one behind, which would outlive the stop", async () => {
  const { broken } = line.state;
  line.state.breaksAt = "LISTEN service_";
  await server.query(`SELECT pg_terminate_backend(pid) ${WAKES}`, [], database);
  await expect.poll(() => line.state.broken).toBeGreaterThan(broken + 2);
  line.state.breaksAt = undefined;
  const count = async () => (await server.query(`SELECT pid ${WAKES}`, [], database)).length;
  await expect.poll(count).toBeGreaterThan(0);
  expect(await node.stop()).toBe(0);
});

it("a database that has vanished without a word does not keep a process from stopping", async () => {
  const silent = await startLine(database);
  const alone = await startNode(silent.url, ["--database-timeout", "1"]);
  silent.fallSilent();
  expect(await alone.stop()).toBe(0);
  silent.close();
});

const clock = async () => (await api("GET", "/v1/test_clock")).body;
const advance = (key: string) =>
  api("POST", "/v1/test_clock/advance", { seconds: 60 }, { "Idempotency-Key": `clock-${key}` });
const isHeld = async () =>
  (await server.query("SELECT id FROM environments WHERE clock_held_until > 0", [], database)).length > 0;

it("an advance of the test clock whose commit was not answered runs, and its repetition finds it", async () => {
  line.state.breaksAt = "COMMIT\0";
  const lost = await advance("begun");
  line.state.breaksAt = undefined;
  expect([lost.status, lost.body.code]).toEqual([503, "unavailable"]);
  expect(lost.body.detail).toMatch(/may have been made or not.*Idempotency-Key/);
  const again = await advance("begun");
  expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([200, "true"]);
  expect(again.body).toMatchObject({ status: "idle", offset_seconds: 60 });
  expect(await isHeld()).toBe(false);
  expect(await clock()).toMatchObject({ offset_seconds: 60 });
});

it("a step of the test clock whose commit was not answered holds the clock no longer than the others", async () => {
  let retried: ServerResponse | undefined;
  const receiver = await startScriptedReceiver((_request, response) => {
    if (receiver.received.length === 1) response.writeHead(500).end();
    else retried = response;
  });
  await api("POST", "/v1/webhook_endpoints", { url: receiver.url, events: ["*"] });
  await api("POST", "/v1/orders", { amount: 1, currency: "EUR" });
  const delivery = async () => (await api("GET", "/v1/deliveries?limit=1")).body.data[0];
  await expect.poll(async () => (await delivery())?.attempt_count).toBe(1);
  const { offset_seconds: before } = await clock();
  const advanced = advance("step");
  await receiver.until(2);
  const { broken } = line.state;
  line.state.breaksAt = "COMMIT\0";
  retried!.end();
  await expect.poll(() => line.state.broken).toBeGreaterThan(broken);
  line.state.breaksAt = undefined;
  await advanced;
  await expect.poll(async () => (await clock()).status).toBe("idle");
  expect(await clock()).toMatchObject({ offset_seconds: before + 60, attempts: 1, succeeded: 1 });
  expect(await isHeld()).toBe(false);
  expect(await delivery()).toMatchObject({ status: "succeeded", attempt_count: 2 });
  expect(receiver.received).toHaveLength(2);
  await receiver.close();
});

it("an advance of the test clock that cannot be followed says that it has begun, and its repetition tells the rest", async () => {
  let retried: ServerResponse | undefined;
  const receiver = await startScriptedReceiver((_request, response) => {
    if (receiver.received.length === 1) response.writeHead(500).end();
    else retried = response;
  });
  const endpoint = { url: receiver.url, events: ["customer.created"] };
  const { id } = (await api("POST", "/v1/webhook_endpoints", endpoint)).body;
  await api("POST", "/v1/customers", { email: "ada@example.com" });
  const delivery = async () => (await api("GET", `/v1/deliveries?endpoint=${id}`)).body.data[0];
  await expect.poll(async () => (await delivery())?.attempt_count).toBe(1);
  const advanced = advance("cut");
  await receiver.until(2);
  // Whatever is sent from now on.
  line.state.breaksAt = "\0";
  const cut = await advanced;
  line.state.breaksAt = undefined;
  retried!.end();
  expect([cut.status, cut.body.code]).toEqual([503, "unavailable"]);
  expect(cut.body.detail).toMatch(/its work has begun/);
  await expect.poll(async () => (await clock()).status).toBe("idle");
  const again = await advance("cut");
  expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([200, "true"]);
  expect(again.body).toMatchObject({ status: "idle", target: (await clock()).target });
  await receiver.close();
});
