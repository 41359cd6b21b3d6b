import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { Event } from "../../src/contract/schemas/event.ts";
import { figure } from "../platform/delivery/support/figures.ts";
import { type ScriptedReceiver, startScriptedReceiver } from "../platform/delivery/support/scripted-receiver.ts";
import { findViolations } from "../invariants/invariants.ts";
import { type Api, apiOf } from "../support/api.ts";
import { createFakeTime, type FakeTime } from "../support/fake-time.ts";
import { freePort } from "../support/free-port.ts";
import { startListener } from "../support/listener.ts";
import { type RunningPlatform, startNode } from "../support/platform.ts";
import { type PostgresServer, usePostgres } from "../support/postgres.ts";

/** Number of orders created around each step of the clock. */
const ORDERS = 200;
const AT_ONCE = 8;
/** Interval of the tasks that normally run every minute, in milliseconds. */
const OVER_A_MINUTE = 70_000;
const PATIENT = { timeout: 180_000, interval: 100 };

let folder: string;
let postgres: PostgresServer & { remove(): Promise<void> };
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "service-clock-faults-"));
  postgres = await usePostgres();
});
afterAll(async () => {
  await postgres.remove();
  rmSync(folder, { recursive: true, force: true });
});

const DATABASES = {
  SQLite: async () => join(mkdtempSync(join(folder, "data-")), "platform.db"),
  PostgreSQL: () => postgres.createDatabase(),
};

/**
 * A platform with a clock that can be set, an endpoint that accepts orders, and one that rejects every customer event.
 */
class Subject {
  readonly receiver: ScriptedReceiver;
  readonly acknowledged = new Set<string>();
  /** The last order of each step. */
  readonly orders: string[] = [];
  readonly endpoints: { id: string; events: string[] }[] = [];
  api!: Api;
  node!: RunningPlatform;
  readonly #time: FakeTime;
  readonly #database: string;
  readonly #port: number;
  #customers = 0;

  constructor(receiver: ScriptedReceiver, time: FakeTime, database: string, port: number) {
    this.receiver = receiver;
    this.#time = time;
    this.#database = database;
    this.#port = port;
  }

  async start(): Promise<void> {
    const key = this.node?.sandboxKey;
    this.node = await startNode(this.#database, ["--port", String(this.#port)], undefined, this.#time.env);
    this.api = apiOf(this.node.baseUrl, key ?? this.node.sandboxKey);
    if (key !== undefined) this.node.sandboxKey = key;
  }

  async restart(): Promise<void> {
    expect(await this.node.stop()).toBe(0);
    await this.start();
  }

  async addEndpoint(path: string, events: string[]): Promise<void> {
    const { status, body } = await this.api("POST", "/v1/webhook_endpoints", { url: this.receiver.url + path, events });
    expect(status).toBe(201);
    this.endpoints.push({ id: body.id, events });
  }

  async createOrder(): Promise<string> {
    const { status, body } = await this.api("POST", "/v1/orders", { amount: 1, currency: "EUR" });
    expect(status, JSON.stringify(body)).toBe(201);
    this.acknowledged.add(`order.created ${body.id}`);
    return body.id;
  }

  /** Sets the clock during a load, and waits until every acknowledged order is delivered. */
  async step(distance: string): Promise<void> {
    let left = ORDERS;
    const worker = async () => {
      while (left > 0) {
        left -= 1;
        if (left === ORDERS / 2) this.#time.set(distance);
        await this.createOrder();
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    this.orders.push(await this.createOrder());
    const created = [...this.acknowledged].filter((key) => key.startsWith("order.created")).length;
    const delivered = () => new Set(this.receiver.at("/orders").map(({ event }) => event)).size;
    await expect.poll(delivered, PATIENT).toBe(created);
    await this.expectGaugeToMove();
  }

  /** Waiting deliveries are counted. */
  async expectGaugeToMove(): Promise<void> {
    const email = `customer-${this.#customers++}@example.com`;
    const { status, body } = await this.api("POST", "/v1/customers", { email });
    expect(status).toBe(201);
    this.acknowledged.add(`customer.created ${body.id}`);
    const metrics = apiOf(this.node.baseUrl, undefined);
    const pending = async () => {
      const { body: text } = await metrics("GET", "/metrics");
      return Number(/^service_deliveries_pending (\d+)$/m.exec(text)?.[1]);
    };
    await expect.poll(pending, PATIENT).toBe(this.#customers);
  }
}

describe.each(["SQLite", "PostgreSQL"] as const)("a platform on %s whose clock is set under load", (kind) => {
  it("loses nothing, keeps the order of its lists, and continues to deliver", async () => {
    const receiver = await startScriptedReceiver(({ path }, response) => {
      response.writeHead(path === "/orders" ? 200 : 500).end();
    });
    onTestFinished(() => receiver.close());
    const subject = new Subject(receiver, createFakeTime(), await DATABASES[kind](), await freePort());
    await subject.start();
    onTestFinished(() => subject.node.kill());
    await subject.addEndpoint("/orders", ["order.*"]);
    await subject.addEndpoint("/customers", ["customer.*"]);
    const listener = await startListener(subject.node.env, ["--events", "order.*,customer.*"]);
    onTestFinished(async () => void (await listener.interrupt()));

    await subject.step("+0");
    await subject.step("+31d");
    await passMinute(subject);
    await subject.restart();
    await passMinute(subject);
    for (const distance of ["+0", "-1d", "+0", "+1h", "-1h", "+31d", "-1d"]) await subject.step(distance);
    await subject.restart();
    for (const distance of ["-1d", "+0"]) await subject.step(distance);

    const listed = (await listOrders(subject.api)).filter((id) => subject.orders.includes(id));
    expect(listed).toEqual(subject.orders.toReversed());
    const logs = await subject.api("GET", "/v1/request_logs?method=POST&path=/v1/webhook_endpoints&status=201");
    expect(logs.body.data).toHaveLength(2);
    // The endpoint that rejects everything begins to fail at most once, and never recovers.
    const { data } = (await subject.api("GET", "/v1/events?type=webhook_endpoint.*")).body as { data: Event[] };
    const health = data.map(({ type, data: { object } }) => `${type} ${String(object["id"])}`);
    const rejecting = subject.endpoints.find(({ events }) => events.includes("customer.*"))!;
    expect([[], [`webhook_endpoint.failing ${rejecting.id}`]]).toContainEqual(health);
    const received = () => listener.records.filter(({ event }) => event === "received").map(({ id }) => String(id));
    await expect.poll(() => new Set(received()).size).toBe(subject.acknowledged.size);
    expect(listener.records.filter(({ event }) => event === "gap")).toEqual([]);
    const violations = await findViolations({
      api: subject.api,
      acknowledged: subject.acknowledged,
      endpoints: subject.endpoints,
      listeners: [{ name: "listener", lives: [received()] }],
    });
    // Attempts have the clock's time.
    expect(violations.filter((violation) => !violation.startsWith("attempts out of order"))).toEqual([]);
    expect(subject.node.lines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
    figure(`the clock set 10 times on ${kind}: ${subject.acknowledged.size} events, none lost, lists in order`);
    expect(await subject.node.stop()).toBe(0);
  });

  it.each(["+31d", "-1d", "+1h", "-1h"])(
    "allows a credential to call again after the usual time (%s)",
    async (distance) => {
      const time = createFakeTime();
      const flags = ["--rate-limit", "5", "--rate-burst", "10"];
      const node = await startNode(await DATABASES[kind](), flags, undefined, time.env);
      onTestFinished(() => node.kill());
      const api = apiOf(node.baseUrl, node.sandboxKey);
      const call = async () => (await api("GET", "/v1/me")).status;
      for (const each of [distance, "+0"]) {
        await expect.poll(call, { interval: 1 }).toBe(429);
        time.set(each);
        const began = performance.now();
        await expect.poll(call, { interval: 250 }).toBe(200);
        expect(performance.now() - began).toBeLessThan(10_000);
      }
    },
  );
});

/** Resolves once every periodic task has run. */
async function passMinute(subject: Subject): Promise<void> {
  const began = performance.now();
  await expect
    .poll(() => performance.now() - began, { timeout: 120_000, interval: 500 })
    .toBeGreaterThan(OVER_A_MINUTE);
  await subject.expectGaugeToMove();
}

async function listOrders(api: Api): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor = ""; ;) {
    const { body } = await api("GET", `/v1/orders?limit=100${cursor}`);
    ids.push(...body.data.map(({ id }: { id: string }) => id));
    if (body.next_cursor === null) return ids;
    cursor = `&cursor=${body.next_cursor}`;
  }
}
