import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { figure } from "../platform/delivery/support/figures.ts";
import { listenTo } from "../platform/delivery/support/listen-socket.ts";
import { type ScriptedReceiver, startScriptedReceiver } from "../platform/delivery/support/scripted-receiver.ts";
import { findViolations } from "../invariants/invariants.ts";
import { type Api, apiOf } from "../support/api.ts";
import { type RunningPlatform, startNode } from "../support/platform.ts";
import { type OwnPostgresServer, startOwnPostgres } from "../support/postgres.ts";
import { volume } from "../support/volume.ts";
import { startBalancer } from "./balancer.ts";
import { countDeliveries, queueDeliveries } from "./queue.ts";

const DELIVERIES = volume(10_000, 400);
const CUTS = volume(20, 4);
const ENDPOINTS = 10;
const MIN_REJECTIONS = volume(100, 5);
/** Numbers of processes: those that share the deliveries, and those that are restarted in turn. */
const PROCESSES = volume(4, 2);
const RESTARTED = volume(3, 1);
const WRITERS = volume(6, 3);

let server: OwnPostgresServer;
let database: string;
let nodes: RunningPlatform[] = [];
let key: string;
let receiver: ScriptedReceiver;

beforeAll(async () => {
  server = await startOwnPostgres();
});
afterAll(() => server.remove());

beforeEach(async () => {
  database = await server.createDatabase();
  receiver = await startScriptedReceiver();
});
afterEach(async () => {
  await Promise.all(nodes.map((node) => node.kill()));
  nodes = [];
  await receiver.close();
});

async function startNodes(count: number, args: readonly string[] = []): Promise<void> {
  nodes = [await startNode(database, args)];
  key = nodes[0]!.sandboxKey;
  nodes.push(...(await Promise.all(Array.from({ length: count - 1 }, () => startNode(database, args)))));
}

/** Returns the endpoints for `findViolations`. */
async function addEndpoints(events: readonly string[] = ["order.*"], count = ENDPOINTS) {
  const api = apiOf(nodes[0]!.baseUrl, key);
  const endpoints: { id: string; events: readonly string[] }[] = [];
  for (let i = 0; i < count; i++) {
    const { body } = await api("POST", "/v1/webhook_endpoints", { url: `${receiver.url}/${i}`, events });
    endpoints.push({ id: body.id, events });
  }
  return endpoints;
}

const seconds = (since: number) => (performance.now() - since) / 1000;
/** Returns the unexpected errors that a process logged. */
const complaints = (node: RunningPlatform) => node.lines.filter((line) => /unhandled|"event":"error"/i.test(line));

it(`killing one of two processes during ${DELIVERIES} deliveries loses nothing, and the other takes over its leases`, async () => {
  await startNodes(2);
  await addEndpoints();
  await queueDeliveries(server, database, DELIVERIES);
  await receiver.until(DELIVERIES / 4);
  const killed = performance.now();
  await nodes.pop()!.kill();
  const events = () => new Set(receiver.received.map(({ event }) => event)).size;
  await vi.waitFor(() => expect(events()).toBe(DELIVERIES), { timeout: 60_000, interval: 50 });
  const firsts = new Map<string, number>();
  for (const { event, at } of receiver.received) if (!firsts.has(event)) firsts.set(event, at);
  const reclaimed = (Math.max(...firsts.values()) - killed) / 1000;
  await vi.waitFor(async () => expect(await countDeliveries(server, database)).toEqual({ succeeded: DELIVERIES }), {
    timeout: 60_000,
    interval: 100,
  });
  const duplicates = receiver.received.length - DELIVERIES;
  figure(`kill -9 of one of two: reclaimed after ${reclaimed.toFixed(1)} s, 0 lost, ${duplicates} sent twice`);
});

it(`${PROCESSES} processes send each of ${DELIVERIES} deliveries once`, async () => {
  await startNodes(PROCESSES);
  await addEndpoints();
  const began = performance.now();
  await queueDeliveries(server, database, DELIVERIES);
  await vi.waitFor(async () => expect(await countDeliveries(server, database)).toEqual({ succeeded: DELIVERIES }), {
    timeout: 60_000,
    interval: 100,
  });
  figure(
    `${PROCESSES} processes, ${DELIVERIES} deliveries: 0 twice, ${Math.round(DELIVERIES / seconds(began))} a second`,
  );
  expect(receiver.received).toHaveLength(DELIVERIES);
  expect(new Set(receiver.received.map(({ event }) => event)).size).toBe(DELIVERIES);
  const took = nodes.map((node) => node.lines.filter((line) => line.includes('"event":"delivery"')).length);
  expect(Math.min(...took)).toBeGreaterThan(0);
});

it(`cutting every connection ${CUTS} times under load loses nothing acknowledged, and the processes keep running`, async () => {
  await startNodes(2);
  const endpoints = await addEndpoints(["customer.*"], 1);
  const acknowledged = new Set<string>();
  const unavailable: number[] = [];
  let stopped = false;
  let lastSuccess = 0;
  const write = async (writer: number) => {
    const api = apiOf(nodes[writer % nodes.length]!.baseUrl, key);
    for (let i = 0; !stopped; i++) {
      const name = `w${writer}-${i}`;
      for (;;) {
        const body = { email: `${name}@example.com` };
        const response = await api("POST", "/v1/customers", body, { "Idempotency-Key": name });
        if (response.status === 201) {
          acknowledged.add(response.body.id as string);
          lastSuccess = performance.now();
          break;
        }
        expect([409, 503]).toContain(response.status);
        expect(response.headers.get("retry-after")).not.toBeNull();
        unavailable.push(response.status);
      }
    }
  };
  const writers = Array.from({ length: 8 }, (_, writer) => write(writer));
  const recoveries: number[] = [];
  for (let cut = 0; cut < CUTS; cut++) {
    const before = acknowledged.size;
    await vi.waitFor(() => expect(acknowledged.size).toBeGreaterThan(before + 20), { timeout: 60_000, interval: 5 });
    await server.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = $1",
      [new URL(database).pathname.slice(1)],
    );
    const at = performance.now();
    await vi.waitFor(() => expect(lastSuccess).toBeGreaterThan(at), { timeout: 60_000, interval: 2 });
    recoveries.push((lastSuccess - at) / 1000);
  }
  stopped = true;
  await Promise.all(writers);
  const rows = await server.query<{ id: string }>("SELECT id FROM customers", [], database);
  const stored = new Set(rows.map(({ id }) => id));
  const lost = [...acknowledged].filter((id) => !stored.has(id));
  figure(
    `${CUTS} cuts, ${acknowledged.size} customers: ${lost.length} lost, ${unavailable.length} rejected with 503 or 409 and repeated, ` +
      `ready again after ${Math.max(...recoveries).toFixed(2)} s at most`,
  );
  expect(lost).toEqual([]);
  expect(stored.size).toBe(acknowledged.size);
  const created = new Set([...acknowledged].map((id) => `customer.created ${id}`));
  expect(await findViolations({ api: apiOf(nodes[0]!.baseUrl, key), acknowledged: created, endpoints })).toEqual([]);
  expect(await Promise.all(nodes.map((node) => node.stop()))).toEqual([0, 0]);
  expect(nodes.flatMap(complaints).filter((line) => !line.includes("cannot be reached"))).toEqual([]);
});

it("the next event is delivered after the notification connection was cut", async () => {
  await startNodes(2);
  const listener = await listenTo(nodes[1]!.baseUrl, key, "?after=now");
  const api = apiOf(nodes[0]!.baseUrl, key);
  const cut = await server.query<{ cut: boolean }>(
    "SELECT pg_terminate_backend(pid) AS cut FROM pg_stat_activity WHERE application_name = 'service notifications' AND datname = $1",
    [new URL(database).pathname.slice(1)],
  );
  expect(cut).toHaveLength(2);
  expect((await api("POST", "/v1/orders", { amount: 1, currency: "EUR" })).status).toBe(201);
  const committed = performance.now();
  await listener.until(1);
  figure(`waking cut: the next event after ${Math.round(performance.now() - committed)} ms`);
  await listener.close();
});

it("a database outage causes 503 with Retry-After, and the processes survive and recover", async () => {
  await startNodes(2);
  const endpoints = await addEndpoints();
  const listener = await listenTo(nodes[1]!.baseUrl, key, "?after=now");
  const apis = nodes.map((node) => apiOf(node.baseUrl, key));
  const acknowledged = new Set<string>();
  const order = async (api: Api) => {
    const response = await api("POST", "/v1/orders", { amount: 1, currency: "EUR" });
    if (response.status === 201) acknowledged.add(`order.created ${response.body.id}`);
    return response;
  };
  expect((await order(apis[0]!)).status).toBe(201);
  await server.halt();
  for (let round = 0; round < MIN_REJECTIONS; round++) {
    for (const api of apis) {
      for (const rejected of [await order(api), await api("GET", "/v1/orders")]) {
        expect([rejected.status, rejected.body.code]).toEqual([503, "unavailable"]);
        expect(Number(rejected.headers.get("retry-after"))).toBeGreaterThan(0);
      }
      expect((await api("GET", "/readyz")).status).toBe(503);
      expect((await api("GET", "/healthz")).status).toBe(200);
    }
  }
  await server.resume();
  const back = performance.now();
  const works = async (api: Api) => expect((await order(api)).status).toBe(201);
  await vi.waitFor(() => Promise.all(apis.map(works)), { timeout: 60_000, interval: 50 });
  figure(
    `a database that is away: ${4 * MIN_REJECTIONS} times 503 and nothing else, works again ${seconds(back).toFixed(2)} s after its return`,
  );
  await listener.until(3);
  await receiver.until(3);
  // Notifications work again, not only polling.
  const waking =
    "SELECT 1 FROM pg_stat_activity WHERE application_name = 'service notifications' AND datname = current_database()";
  await expect.poll(() => server.query(waking, [], database)).toHaveLength(nodes.length);
  expect(await findViolations({ api: apis[0]!, acknowledged, endpoints })).toEqual([]);
  expect(nodes.flatMap(complaints).filter((line) => !line.includes("cannot be reached"))).toEqual([]);
  await listener.close();
});

it("no request fails while processes are restarted in turn under load", async () => {
  // Time for the balancer to see that a process is not ready, even on a busy machine.
  const flags = ["--drain-delay", "3"];
  await startNodes(RESTARTED + 1, flags);
  const balancer = await startBalancer(() => nodes.map((node) => node.baseUrl));
  const api = apiOf(balancer.url, key);
  const statuses = new Map<number, number>();
  const acknowledged = new Set<string>();
  let stopped = false;
  const write = async (writer: number) => {
    for (let i = 0; !stopped; i++) {
      const { status, body } = await api("POST", "/v1/customers", { email: `${writer}-${i}@example.com` });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      acknowledged.add(`customer.created ${body.id}`);
    }
  };
  const writers = Array.from({ length: WRITERS }, (_, writer) => write(writer));
  for (const [place, node] of nodes.slice(0, RESTARTED).entries()) {
    const before = statuses.get(201) ?? 0;
    await vi.waitFor(() => expect(statuses.get(201) ?? 0).toBeGreaterThan(before + 50), { timeout: 60_000 });
    expect(await node.stop()).toBe(0);
    nodes[place] = await startNode(database, flags);
  }
  stopped = true;
  await Promise.all(writers);
  expect(await findViolations({ api, acknowledged })).toEqual([]);
  await balancer.close();
  figure(
    `${RESTARTED} processes restarted in turn: ${[...statuses].map(([status, count]) => `${count} × ${status}`).join(", ")}`,
  );
  expect([...statuses.keys()]).toEqual([201]);
});
