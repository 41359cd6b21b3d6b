import { afterAll, beforeAll, expect, it } from "vitest";
import { listenTo } from "../platform/delivery/support/listen-socket.ts";
import { startScriptedReceiver } from "../platform/delivery/support/scripted-receiver.ts";
import { type Api, apiOf } from "../support/api.ts";
import { type RunningPlatform, startNode } from "../support/platform.ts";
import { type PostgresServer, usePostgres } from "../support/postgres.ts";
import { startLine } from "./line.ts";

const WAKES = "FROM pg_stat_activity WHERE application_name = 'service notifications' AND datname = current_database()";

let server: PostgresServer & { remove(): Promise<void> };
let line: Awaited<ReturnType<typeof startLine>>;
let database: string;
let node: RunningPlatform;
let key: string;
let api: Api;

beforeAll(async () => {
  server = await usePostgres();
  database = await server.createDatabase();
  line = await startLine(database);
  node = await startNode(line.url);
  key = node.sandboxKey;
  api = apiOf(node.baseUrl, key);
});
afterAll(async () => {
  await node.kill();
  line.close();
  await server.remove();
});

it("a change whose commit got no response may have been made, as the error explains and a retry shows", async () => {
  const order = () => api("POST", "/v1/orders", { amount: 2, currency: "EUR" }, { "Idempotency-Key": "once" });
  line.state.breaksAtResponse = "COMMIT\0";
  const lost = await order();
  line.state.breaksAtResponse = undefined;
  expect([lost.status, lost.body.code, lost.headers.get("retry-after")]).toEqual([503, "unavailable", "1"]);
  expect(lost.body.detail).toMatch(/may or may not have been made.*Idempotency-Key/);
  const again = await order();
  expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([201, "true"]);
  const orders = (await api("GET", "/v1/orders")).body.data as { id: string; amount: number }[];
  expect(orders.filter(({ amount }) => amount === 2).map(({ id }) => id)).toEqual([again.body.id]);
});

it("a listener's outcome whose commit got no response is recorded once", async () => {
  const listener = await listenTo(node.baseUrl, key);
  await api("POST", "/v1/orders", { amount: 1, currency: "EUR" });
  await listener.until(1);
  const { broken } = line.state;
  line.state.breaksAtResponse = "COMMIT\0";
  listener.ack(1);
  await expect.poll(() => line.state.broken).toBeGreaterThan(broken);
  line.state.breaksAtResponse = undefined;
  const event = listener.events[0]!.id;
  const deliveries = async () => (await api("GET", `/v1/deliveries?event=${event}`)).body.data;
  await expect.poll(deliveries).toHaveLength(1);
  // A second outcome of the same listener is recorded after the first, whether or not that was committed.
  await api("POST", `/v1/events/${event}/replay`);
  await listener.until(2);
  listener.ack(2);
  await expect.poll(async () => (await deliveries())[0].attempt_count).toBeGreaterThan(1);
  expect((await deliveries())[0].attempt_count).toBe(2);
  await listener.close();
});

it("a failed attempt whose commit got no response counts once for the health of its endpoint", async () => {
  const attempts = async () =>
    (await server.query("SELECT delivery_id FROM attempts WHERE error IS NULL", [], database)).length;
  const recorded = () => node.lines.some((line) => (JSON.parse(line) as { endpoint?: string }).endpoint === endpoint);
  const before = await attempts();
  const receiver = await startScriptedReceiver((_request, response) => {
    // Only a response of the server contains this.
    line.state.breaksAt = "COMMIT\0Z";
    response.writeHead(500).end();
  });
  const target = { url: receiver.url, events: ["payment.*"] };
  const endpoint: string = (await api("POST", "/v1/webhook_endpoints", target)).body.id;
  expect((await api("POST", "/v1/payments", { amount: 1, currency: "EUR" })).status).toBe(201);
  // The attempt is committed, but the process has not received the response.
  await expect.poll(attempts).toBe(before + 1);
  expect(recorded()).toBe(false);
  line.state.breaksAt = undefined;
  await expect.poll(recorded).toBe(true);
  const sql = "SELECT failures FROM webhook_endpoints WHERE id = $1";
  expect(await server.query(sql, [endpoint], database)).toEqual([{ failures: 1 }]);
  expect(await attempts()).toBe(before + 1);
  await receiver.close();
});

it("a notification connection that is lost while it is opened does not leave a second connection", async () => {
  const { broken } = line.state;
  line.state.breaksAt = "LISTEN service_";
  await server.query(`SELECT pg_terminate_backend(pid) ${WAKES}`, [], database);
  await expect.poll(() => line.state.broken).toBeGreaterThan(broken + 2);
  line.state.breaksAt = undefined;
  const count = async () => (await server.query(`SELECT pid ${WAKES}`, [], database)).length;
  await expect.poll(count).toBeGreaterThan(0);
  expect(await node.stop()).toBe(0);
  node = await startNode(line.url);
  api = apiOf(node.baseUrl, key);
});

it("a database that vanished does not keep a process from stopping", async () => {
  const silent = await startLine(database);
  const alone = await startNode(silent.url, ["--database-timeout", "1"]);
  silent.fallSilent();
  expect(await alone.stop()).toBe(0);
  silent.close();
});
