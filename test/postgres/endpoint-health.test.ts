import type { ServerResponse } from "node:http";
import { Client } from "pg";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import type { Event } from "../../src/contract/schemas/event.ts";
import { type ScriptedReceiver, startScriptedReceiver } from "../platform/delivery/support/scripted-receiver.ts";
import { type Api, apiOf } from "../support/api.ts";
import { type ServedPlatform, serveNode, startNode } from "../support/platform.ts";
import { type PostgresServer, usePostgres } from "../support/postgres.ts";

const ENDPOINTS = 30;
const ORDERS = 40;
const FAILING_ATTEMPTS = 20;

let server: PostgresServer & { remove(): Promise<void> };
let url: string;
let nodes: ServedPlatform[];
let apis: Api[];
let receiver: ScriptedReceiver;
let status = 500;
/** Set while responses to the endpoint `/locked` wait for the test. */
let hold: ((response: ServerResponse) => void) | undefined;
const ids: string[] = [];

beforeAll(async () => {
  server = await usePostgres();
  url = await server.createDatabase();
  receiver = await startScriptedReceiver(({ path }, response) => {
    response.statusCode = status;
    // Other endpoints are retried meanwhile.
    if (hold === undefined || path !== "/locked") response.end();
    else hold(response);
  });
  const first = await serveNode(url);
  nodes = [first, await startNode(url)];
  apis = nodes.map(({ baseUrl }) => apiOf(baseUrl, first.sandboxKey));
  for (let created = 0; created < ENDPOINTS; created++) {
    const events = ["order.created"];
    const { body } = await api()("POST", "/v1/webhook_endpoints", { url: `${receiver.url}/${created}`, events });
    ids.push(body.id);
  }
});
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop()));
  await receiver.close();
  await server.remove();
});

const api = () => apis[0]!;
const order = (index: number) => apis[index % 2]!("POST", "/v1/orders", { amount: 1, currency: "EUR" });
const countBy = async (type: string) => {
  const rows = await server.query<{ object_id: string; count: number }>(
    "SELECT object_id, CAST(COUNT(*) AS INTEGER) AS count FROM events WHERE type = $1 GROUP BY object_id",
    [type],
    url,
  );
  return new Map(rows.flatMap(({ object_id: id, count }) => (ids.includes(id) ? [[id, count]] : [])));
};
const once = () => new Map(ids.toSorted().map((id) => [id, 1]));
const sorted = (counts: Map<string, number>) => new Map([...counts].toSorted(([a], [b]) => (a < b ? -1 : 1)));
/** Counts first attempts: failed ones are retried meanwhile. */
const attempted = async () => {
  const [row] = await server.query<{ count: number }>(
    `SELECT CAST(COUNT(*) AS INTEGER) AS count FROM attempts a JOIN deliveries d ON d.id = a.delivery_id
     WHERE a.number = 1 AND d.event_type = 'order.created'`,
    [],
    url,
  );
  return row!.count;
};

it("each endpoint that fails and recovers at two processes causes one event for each change", async () => {
  status = 500;
  await Promise.all(Array.from({ length: ORDERS }, (_, index) => order(index)));
  await expect.poll(attempted, { timeout: 60_000 }).toBe(ENDPOINTS * ORDERS);
  expect(sorted(await countBy("webhook_endpoint.failing"))).toEqual(once());
  status = 200;
  await Promise.all([0, 1, 2].map((index) => order(index)));
  await expect.poll(attempted, { timeout: 60_000 }).toBe(ENDPOINTS * (ORDERS + 3));
  expect(sorted(await countBy("webhook_endpoint.recovered"))).toEqual(once());
  expect(sorted(await countBy("webhook_endpoint.failing"))).toEqual(once());
});

it("an endpoint is shown as failing only once the event about it is stored", async () => {
  status = 500;
  const events = ["payment.created"];
  const { id } = (await api()("POST", "/v1/webhook_endpoints", { url: `${receiver.url}/locked`, events })).body;
  const ping = (count: number) =>
    Promise.all(Array.from({ length: count }, () => api()("POST", `/v1/webhook_endpoints/${id}/ping`)));
  const health = async () => (await api()("GET", `/v1/webhook_endpoints/${id}`)).body.health.failing_since as string;
  await ping(FAILING_ATTEMPTS - 1);
  const attemptsOf = async () =>
    (await api()("GET", `/v1/statistics?endpoint=${id}`)).body.endpoints[0].attempts as number;
  await expect.poll(attemptsOf, { timeout: 60_000 }).toBe(FAILING_ATTEMPTS - 1);
  const holder = new Client({ connectionString: url });
  await holder.connect();
  onTestFinished(() => holder.end());
  await holder.query("BEGIN");
  const last = new Promise<ServerResponse>((resolve) => (hold = resolve));
  await ping(1);
  const response = await last;
  hold = undefined;
  // No event can be written while this lock is held.
  await holder.query("LOCK TABLE events IN SHARE ROW EXCLUSIVE MODE");
  response.end();
  const waiting = () => holder.query("SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'events'::regclass");
  await expect.poll(async () => (await waiting()).rowCount).toBe(1);
  expect(await health()).toBeNull();
  expect(await attemptsOf()).toBe(FAILING_ATTEMPTS - 1);
  await holder.query("COMMIT");
  await expect.poll(health).not.toBeNull();
  const { data } = (await api()("GET", `/v1/events?related=${id}`)).body as { data: Event[] };
  expect(data.filter(({ type }) => type === "webhook_endpoint.failing")).toHaveLength(1);
});
