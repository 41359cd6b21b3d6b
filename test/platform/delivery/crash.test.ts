import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { findViolations } from "../../invariants/invariants.ts";
import type { Api } from "../../support/api.ts";
import { freePort } from "../../support/free-port.ts";
import { volume } from "../../support/volume.ts";
import { type RunningPlatform, startPlatformOn } from "../../support/platform.ts";
import { figure } from "./support/figures.ts";
import { type ScriptedReceiver, startScriptedReceiver } from "./support/scripted-receiver.ts";

const ENDPOINTS = 5;
const EVENTS = volume(2000);
const KILLS = volume(8, 3);
/** Maximum number of attempts that a process has in flight. */
const CONCURRENCY = 256;
const AT_ONCE = 16;

let folder: string;
let database: string;
let receiver: ScriptedReceiver;
let platform: RunningPlatform;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "service-crash-"));
  database = join(folder, "platform.db");
  receiver = await startScriptedReceiver();
  platform = await startPlatformOn(database, await freePort());
});
afterEach(async () => {
  await platform.kill();
  await receiver.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Expects that the API shows each created event with its object ID, and its deliveries, once nothing is in flight. */
async function expectNoViolations(names: readonly string[], endpoints: readonly string[]): Promise<void> {
  const violations = await findViolations({
    api: platform.api,
    acknowledged: new Set(names.map((name) => `order.completed ${name}`)),
    createdByHand: true,
    endpoints: endpoints.map((id) => ({ id, events: ["*"] })),
  });
  expect(violations).toEqual([]);
}

/** Creates an endpoint for all events and returns its ID. */
async function createEndpoint(url: string): Promise<string> {
  const created = await platform.api("POST", "/v1/webhook_endpoints", { url, events: ["*"] });
  expect(created.status).toBe(201);
  return created.body.id;
}

/** Creates events, and retries failed requests with the same Idempotency-Key. */
async function createEvents(api: () => Api, count: number): Promise<Set<string>> {
  const acknowledged = new Set<string>();
  let next = 0;
  const worker = async () => {
    while (next < count) {
      const name = `ord_${next++}`;
      const body = { type: "order.completed", data: { id: name } };
      for (;;) {
        const response = await api()("POST", "/v1/events", body, { "Idempotency-Key": name }).catch(() => undefined);
        if (response === undefined || response.status === 409 || response.status === 503) {
          await new Promise((resolve) => setTimeout(resolve, 20));
          continue;
        }
        expect(response.status, JSON.stringify(response.body)).toBe(201);
        acknowledged.add(response.body.id);
        break;
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return acknowledged;
}

function limitFiles(pid: number, bytes: string): void {
  execFileSync("prlimit", [`--pid=${pid}`, `--fsize=${bytes}:unlimited`]);
}

it(`the platform loses none of ${EVENTS * ENDPOINTS} deliveries although it is killed ${KILLS} times`, async () => {
  const port = Number(new URL(platform.baseUrl).port);
  const endpoints: string[] = [];
  for (let i = 0; i < ENDPOINTS; i++) endpoints.push(await createEndpoint(`${receiver.url}/${i}`));
  const total = EVENTS * ENDPOINTS;
  const events = createEvents(() => platform.api, EVENTS);
  for (let kill = 1; kill <= KILLS; kill++) {
    const threshold = Math.floor((total * kill) / (KILLS + 1));
    await receiver.until(threshold);
    await platform.kill();
    platform = await startPlatformOn(database, port);
  }
  const restarted = performance.now();
  const acknowledged = await events;
  // A delivery that was interrupted twice waits as after a failure.
  await platform.api("POST", "/v1/test_clock/advance", { seconds: 3600 });
  const pairs = () => new Set(receiver.received.map(({ event, path }) => `${event} ${path}`));
  const expected = [...acknowledged].flatMap((event) => Array.from({ length: ENDPOINTS }, (_, i) => `${event} /${i}`));
  expect(acknowledged.size).toBe(EVENTS);
  await vi.waitFor(
    () => {
      const arrived = pairs();
      if (expected.some((pair) => !arrived.has(pair))) throw new Error(`${arrived.size} of ${total} arrived`);
    },
    { timeout: 60_000, interval: 100 },
  );
  const firsts = new Map<string, number>();
  for (const { event, path, at } of receiver.received) {
    if (!firsts.has(`${event} ${path}`)) firsts.set(`${event} ${path}`, at);
  }
  const drained = (Math.max(...firsts.values()) - restarted) / 1000;
  const duplicates = receiver.received.length - firsts.size;
  figure(
    `${total} deliveries, ${KILLS} kills: 0 lost, ${duplicates} duplicates, drained ${drained.toFixed(1)} s after the last start`,
  );
  expect(duplicates).toBeLessThanOrEqual(KILLS * CONCURRENCY);
  await expect.poll(async () => (await platform.api("GET", "/v1/deliveries?status=pending")).body.data.length).toBe(0);
  expect((await platform.api("GET", "/v1/deliveries?status=failed")).body.data).toEqual([]);
  await expectNoViolations(
    Array.from({ length: EVENTS }, (_, i) => `ord_${i}`),
    endpoints,
  );
});

it("the platform exits 0 on SIGTERM with 500 deliveries in flight or waiting, and none is lost or sent twice", async () => {
  let respond = () => {};
  const stopped = new Promise<void>((resolve) => (respond = resolve));
  const slow = await startScriptedReceiver((_request, response) => void stopped.then(() => response.end()));
  for (let i = 0; i < 25; i++) {
    await platform.api("POST", "/v1/webhook_endpoints", { url: `${slow.url}/${i}`, events: ["*"] });
  }
  const events = await createEvents(() => platform.api, 20);
  await slow.until(200);
  const began = performance.now();
  const ended = platform.stop();
  respond();
  expect(await ended).toBe(0);
  figure(
    `SIGTERM with ${slow.received.length} of 500 in flight: exit 0 after ${Math.round(performance.now() - began)} ms`,
  );
  const before = slow.received.length;
  platform = await startPlatformOn(database);
  await slow.until(500);
  await expect.poll(async () => (await platform.api("GET", "/v1/deliveries?status=pending")).body.data.length).toBe(0);
  const pairs = slow.received.map(({ event, path }) => `${event} ${path}`);
  expect(before).toBeLessThan(500);
  expect(new Set(pairs).size).toBe(500);
  expect(pairs).toHaveLength(500);
  expect(new Set(slow.received.map(({ event }) => event))).toEqual(events);
  await slow.close();
});

it("the platform exits 0 on SIGTERM once attempts to hanging receivers have timed out", async () => {
  const hanging = await startScriptedReceiver(() => {});
  for (let i = 0; i < 3; i++) {
    await platform.api("POST", "/v1/webhook_endpoints", { url: `${hanging.url}/${i}`, events: ["order.*"] });
  }
  await createEvents(() => platform.api, 30);
  await hanging.until(60);
  const began = performance.now();
  expect(await platform.stop()).toBe(0);
  figure(`SIGTERM with 60 attempts that hang: exit 0 after ${Math.round(performance.now() - began)} ms`);
  // An interrupted attempt counts; a delivery that had not started waits.
  platform = await startPlatformOn(database);
  const { data } = (await platform.api("GET", "/v1/deliveries?limit=100&status=pending")).body;
  expect(data).toHaveLength(90);
  const counts = data.map((delivery: { attempt_count: number }) => delivery.attempt_count);
  expect(counts.filter((count: number) => count === 1)).toHaveLength(60);
  await hanging.close();
});

it("the platform retries immediately after being killed during an attempt, and waits after being killed again", async () => {
  const hanging = await startScriptedReceiver(() => {});
  await platform.api("POST", "/v1/webhook_endpoints", { url: hanging.url, events: ["*"] });
  await createEvents(() => platform.api, 1);
  for (let attempt = 1; attempt <= 2; attempt++) {
    await hanging.until(attempt);
    expect(hanging.received.at(-1)!.headers["service-delivery-attempt"]).toBe(String(attempt));
    await platform.kill();
    platform = await startPlatformOn(database);
  }
  const [{ id }] = (await platform.api("GET", "/v1/deliveries")).body.data;
  const delivery = (await platform.api("GET", `/v1/deliveries/${id}`)).body;
  const interrupted = { status_code: null, error: expect.stringMatching(/^interrupted: /) };
  expect(delivery).toMatchObject({ status: "pending", attempt_count: 2, attempts: [interrupted, interrupted] });
  expect(Date.parse(delivery.next_attempt) - Date.now()).toBeGreaterThan(30_000);
  const attempts = () =>
    platform.lines.map((line) => JSON.parse(line) as { event: string }).filter(({ event }) => event === "delivery");
  await expect.poll(attempts).toMatchObject([{ delivery: id, attempt: 2, status: "pending" }]);
  expect(hanging.received).toHaveLength(2);
  await hanging.close();
});

it("the platform returns 503 while the disk is full, keeps running, and recovers", async () => {
  await platform.stop();
  // Without a listener, the signal of the file size limit that simulates a full disk would end the process.
  const listener = "data:text/javascript,process.on('SIGXFSZ',()=>{})";
  platform = await startPlatformOn(database, 0, { NODE_OPTIONS: `--import=${listener}` });
  const endpoint = await createEndpoint(receiver.url);
  await createEvents(() => platform.api, 20);
  await receiver.until(20);
  limitFiles(platform.pid, "100000");
  const statuses = new Set<number>();
  const names = Array.from({ length: 20 }, (_, i) => `ord_${i}`);
  let rejected = 0;
  for (let i = 0; i < 60; i++) {
    const data = { id: `full_${i}`, filler: "x".repeat(20_000) };
    const response = await platform.api("POST", "/v1/events", { type: "order.completed", data });
    statuses.add(response.status);
    if (response.status === 201) names.push(data.id);
    if (response.status !== 503) continue;
    rejected += 1;
    expect(response.body).toMatchObject({ code: "unavailable" });
    expect(response.headers.get("retry-after")).toBe("1");
  }
  expect(rejected).toBeGreaterThan(0);
  expect([...statuses].filter((status) => status !== 201 && status !== 503)).toEqual([]);
  expect((await platform.api("GET", "/v1/events")).status).toBe(200);
  expect((await platform.api("GET", "/healthz")).status).toBe(200);
  limitFiles(platform.pid, "unlimited");
  const created = await platform.api("POST", "/v1/events", { type: "order.completed", data: { id: "after" } });
  expect(created.status).toBe(201);
  await vi.waitFor(
    async () => {
      expect(receiver.received.some(({ event }) => event === created.body.id)).toBe(true);
      expect((await platform.api("GET", "/v1/deliveries?status=pending")).body.data).toEqual([]);
    },
    { timeout: 60_000, interval: 50 },
  );
  const { data } = (await platform.api("GET", "/v1/events?limit=100")).body;
  const received = new Set(receiver.received.map(({ event }) => event));
  expect(data.filter(({ id }: { id: string }) => !received.has(id))).toEqual([]);
  await expectNoViolations([...names, "after"], [endpoint]);
  figure(`disk full: ${rejected} of 60 writes refused with 503, all others delivered after it`);
});
