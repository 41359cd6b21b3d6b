import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { type HostedPlatform, hostPlatform } from "./delivery/support/hosted-platform.ts";
import { createMinuteClock, type MinuteClock } from "./delivery/support/minute-clock.ts";
import { type ScriptedReceiver, startScriptedReceiver } from "./delivery/support/scripted-receiver.ts";
import { apiOf } from "../support/api.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const WAITING = 50;

let clock: MinuteClock;
let platform: HostedPlatform;
let receiver: ScriptedReceiver;
let status: number;

beforeAll(async () => {
  receiver = await startScriptedReceiver((_request, response) => response.writeHead(status).end());
});
beforeEach(async () => {
  status = 200;
  clock = createMinuteClock();
  platform = await hostPlatform({ clock });
});
afterEach(() => platform.close());
afterAll(() => receiver.close());

/** Runs the periodic tasks once, and resolves when they have finished. */
async function runPeriodicTasks(): Promise<void> {
  const tasks = clock.waiting();
  expect(tasks).toBeGreaterThan(0);
  clock.passMinute();
  await expect.poll(() => clock.waiting()).toBe(tasks);
}

let names = 0;
async function createEvent(): Promise<string> {
  const created = await platform.api("POST", "/v1/events", { type: "order.created", data: { id: `ord_${names++}` } });
  expect(created.status).toBe(201);
  return created.body.id;
}

async function createOrder(key: string): Promise<string> {
  const headers = { "Idempotency-Key": key };
  const created = await platform.api("POST", "/v1/orders", { amount: 1, currency: "EUR" }, headers);
  expect(created.status).toBe(201);
  return created.body.id;
}

const exists = async (event: string) => (await platform.api("GET", `/v1/events/${event}`)).status === 200;

/** Returns the delivery of an event once it has this many attempts. */
async function attempted(event: string, attempts: number) {
  const read = async () => (await platform.api("GET", `/v1/deliveries?event=${event}`)).body.data[0];
  await expect.poll(async () => (await read()).attempt_count).toBe(attempts);
  return read();
}

describe("a clock that is set ahead by 31 days", () => {
  it("deletes no history, neither then nor after it is set back", async () => {
    const event = await createEvent();
    const before = platform.complaints.length;
    clock.set(31 * DAY);
    await runPeriodicTasks();
    await runPeriodicTasks();
    expect(await exists(event)).toBe(true);
    const complaints = platform.complaints.slice(before);
    expect(complaints).toEqual([expect.stringMatching(/^the clock was set by an hour or more/)]);
    clock.set(0);
    await runPeriodicTasks();
    expect(await exists(event)).toBe(true);
  });

  it("fails no delivery because of its age, and delays none after it is set back", async () => {
    status = 500;
    await platform.api("POST", "/v1/webhook_endpoints", { url: receiver.url, events: ["*"] });
    const event = await createEvent();
    await attempted(event, 1);
    clock.set(31 * DAY);
    expect(await attempted(event, 2)).toMatchObject({ status: "pending" });
    clock.set(0);
    status = 200;
    await runPeriodicTasks();
    expect(await attempted(event, 3)).toMatchObject({ status: "succeeded" });
  });

  it("executes no repeated request twice, neither then nor after it is set back", async () => {
    const before = await createOrder("made-before");
    clock.set(31 * DAY);
    expect(await createOrder("made-before")).toBe(before);
    const between = await createOrder("made-in-between");
    clock.set(0);
    expect(await createOrder("made-before")).toBe(before);
    expect(await createOrder("made-in-between")).toBe(between);
    clock.pass(DAY);
    expect(await createOrder("made-before")).not.toBe(before);
  });

  it("is trusted once it has run evenly for a day", async () => {
    const event = await createEvent();
    clock.set(31 * DAY);
    await runPeriodicTasks();
    clock.pass(DAY);
    await runPeriodicTasks();
    expect(await exists(event)).toBe(false);
  });

  it.each([
    ["was set before the platform's first retention run", 0],
    ["was set after that", 1],
  ])("is not trusted at the start until it has run evenly for an hour, if it %s", async (_name, looks) => {
    const event = await createEvent();
    if (looks > 0) await runPeriodicTasks();
    clock.set(31 * DAY);
    await platform.restart();
    await runPeriodicTasks();
    expect(await exists(event)).toBe(true);
    clock.pass(HOUR);
    await runPeriodicTasks();
    expect(await exists(event)).toBe(false);
  });
});

/** Delays all responses of an endpoint, so that some first attempts are in flight and the rest wait. */
async function createWaiting() {
  const open: (() => void)[] = [];
  const slow = await startScriptedReceiver((_request, response) => open.push(() => response.end()));
  onTestFinished(() => slow.close());
  await platform.api("POST", "/v1/webhook_endpoints", { url: slow.url, events: ["*"] });
  const create = async () => {
    const before = open.length;
    const events = await Promise.all(Array.from({ length: WAITING }, createEvent));
    if (before === 0) await expect.poll(() => open.length).toBeGreaterThan(0);
    return events;
  };
  /** Sends the delayed responses, and resolves once all events are delivered. */
  const sent = async (events: readonly string[]) => {
    const respond = setInterval(() => open.splice(0).forEach((end) => end()), 10);
    onTestFinished(() => clearInterval(respond));
    const all = () => new Set(slow.received.map(({ event }) => event));
    await expect.poll(() => events.filter((event) => !all().has(event))).toEqual([]);
  };
  return { create, sent };
}

describe.each([
  ["a day", DAY],
  ["two hours", 2 * HOUR],
])("a clock that was set back by %s", (_name, distance) => {
  it("delays no first attempt created before the step", async () => {
    const { create, sent } = await createWaiting();
    const events = await create();
    clock.set(-distance);
    await runPeriodicTasks();
    await sent(events);
  });
});

describe("a clock that is set ahead by an hour and back", () => {
  it("delays no first attempt created in between, whenever periodic tasks ran", async () => {
    const { create, sent } = await createWaiting();
    await runPeriodicTasks();
    const before = await create();
    clock.set(HOUR);
    const between = await create();
    clock.set(0);
    await runPeriodicTasks();
    await sent([...before, ...between]);
  });

  it("delays no first attempt if the platform was restarted in between", async () => {
    const { create, sent } = await createWaiting();
    clock.set(HOUR);
    const events = await create();
    clock.set(0);
    const all = sent(events);
    await platform.restart();
    await runPeriodicTasks();
    await all;
  });

  it("does not change the time of retries", async () => {
    status = 500;
    await platform.api("POST", "/v1/webhook_endpoints", { url: receiver.url, events: ["*"] });
    const event = await createEvent();
    const { next_attempt: next } = await attempted(event, 1);
    clock.set(-HOUR);
    await runPeriodicTasks();
    expect(await attempted(event, 1)).toMatchObject({ next_attempt: next });
  });
});

describe("a clock that is set back by a day", () => {
  it("allows a rate-limited credential to call again after the usual time", async () => {
    const limited = await hostPlatform({ clock, rateLimits: { perSecond: 1, burst: 3 } });
    const calls = () => Promise.all(Array.from({ length: 12 }, () => limited.api("GET", "/v1/me")));
    const statuses = async () => (await calls()).map((response) => response.status);
    expect(await statuses()).toContain(429);
    clock.set(-DAY);
    await expect.poll(statuses).toContain(200);
    await limited.close();
  });

  it("does not freeze the queue's gauges", async () => {
    const metrics = apiOf(platform.baseUrl, undefined);
    const pending = async () => {
      const text: string = (await metrics("GET", "/metrics")).body;
      return Number(/^service_deliveries_pending (\d+)$/m.exec(text)?.[1]);
    };
    const before = await pending();
    clock.set(-DAY);
    status = 500;
    await platform.api("POST", "/v1/webhook_endpoints", { url: receiver.url, events: ["*"] });
    await attempted(await createEvent(), 1);
    await expect.poll(pending).toBe(before + 1);
  });

  it("keeps lists in order while the platform runs", async () => {
    const ids = async (list: string) =>
      (await platform.api("GET", list)).body.data.map(({ id }: { id: string }) => id) as string[];
    const older = await createEvent();
    clock.set(-DAY);
    const newer = [await createEvent(), await createEvent()];
    expect((await ids("/v1/events")).slice(0, 3)).toEqual([newer[1], newer[0], older]);
    const users = await ids("/v1/request_logs?path=/v1/events&method=POST&status=201&limit=2");
    const after = await platform.api("POST", "/v1/events", { type: "order.created", data: {} });
    expect(after.headers.get("request-id")! > users[0]!).toBe(true);
  });
});
