import type { ServerResponse } from "node:http";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { advanceClock } from "../../support/advance-clock.ts";
import { systemClock } from "../../../src/platform/ports.ts";
import { type HostedPlatform, hostPlatform } from "./support/hosted-platform.ts";
import { listenTo } from "./support/listen-socket.ts";
import { type ScriptedReceiver, startScriptedReceiver } from "./support/scripted-receiver.ts";

const DAY = 86_400;

let platform: HostedPlatform;
let receiver: ScriptedReceiver;
let respond: (path: string) => number;

beforeEach(async () => {
  respond = () => 500;
  platform = await hostPlatform();
  receiver = await startScriptedReceiver(({ path }, response) => response.writeHead(respond(path)).end());
});
afterEach(async () => {
  await platform.close();
  await receiver.close();
});

const advance = (seconds: number) => advanceClock(platform.api, seconds);
const seconds = (timestamp: string) => Date.parse(timestamp) / 1000;

async function createEndpoint(path: string): Promise<string> {
  return (await platform.api("POST", "/v1/webhook_endpoints", { url: receiver.url + path, events: ["customer.*"] }))
    .body.id;
}

async function createCustomers(count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    await platform.api("POST", "/v1/customers", { email: `${i}@${receiver.received.length}.example.com` });
  }
}

interface Attempt {
  at: string;
  status_code: number | null;
}

async function attemptsOf(): Promise<Map<string, Attempt[]>> {
  const found = new Map<string, Attempt[]>();
  const { data } = (await platform.api("GET", "/v1/deliveries?limit=100")).body;
  for (const { id } of data) found.set(id, (await platform.api("GET", `/v1/deliveries/${id}`)).body.attempts);
  return found;
}

describe("the test clock", () => {
  it("delivers in a process that only serves the API what an advance makes due", async () => {
    respond = () => 200;
    await platform.restart({ role: "api" });
    await createEndpoint("/");
    await createCustomers(2);
    expect(receiver.received).toEqual([]);
    expect((await advance(60)).body).toMatchObject({ attempts: 2, succeeded: 2 });
    expect(receiver.received).toHaveLength(2);
  });

  it("runs in real time until it is advanced, and keeps its offset across a restart", async () => {
    const clock = (await platform.api("GET", "/v1/test_clock")).body;
    expect(clock).toEqual({
      object: "test_clock",
      now: expect.any(String),
      offset_seconds: 0,
      reset_at: null,
      status: "idle",
      target: null,
      attempts: 0,
      succeeded: 0,
      failed: 0,
      remaining: 0,
    });
    expect(Math.abs(seconds(clock.now) - Date.now() / 1000)).toBeLessThan(60);
    const moved = (await advance(3 * DAY)).body;
    expect(moved).toMatchObject({ offset_seconds: 3 * DAY, attempts: 0, succeeded: 0, failed: 0 });
    await platform.restart();
    const after = (await platform.api("GET", "/v1/test_clock")).body;
    expect(after.offset_seconds).toBe(3 * DAY);
    expect(Math.abs(seconds(after.now) - Date.now() / 1000 - 3 * DAY)).toBeLessThan(60);
  });

  it("sets the sandbox's time, but not live mode's", async () => {
    await advance(10 * DAY);
    const created = (await platform.api("POST", "/v1/customers", { email: "a@example.com" })).body;
    expect(seconds(created.created) - Date.now() / 1000).toBeGreaterThan(10 * DAY - 60);
    const live = (await platform.live("POST", "/v1/customers", { email: "a@example.com" })).body;
    expect(Math.abs(seconds(live.created) - Date.now() / 1000)).toBeLessThan(60);
    // IDs contain their time, which filters use.
    const since = new Date(Date.now() + 60_000).toISOString().replace(/\.\d+/, "");
    expect((await platform.live("GET", `/v1/customers?created_after=${since}`)).body.data).toEqual([]);
    expect((await platform.api("GET", `/v1/customers?created_after=${since}`)).body.data).toHaveLength(1);
  });

  it("exists only in the sandbox", async () => {
    expect((await platform.live("GET", "/v1/test_clock")).body.code).toBe("sandbox_only");
    expect((await platform.live("POST", "/v1/test_clock/advance", { seconds: 1 })).body.code).toBe("sandbox_only");
  });

  it("does not advance beyond the range of timestamps", async () => {
    const ahead = Date.UTC(8999, 11, 30) - Date.now();
    await platform.restart({ clock: { ...systemClock, now: () => Date.now() + ahead } });
    const rejected = await advance(3 * DAY);
    expect(rejected).toMatchObject({ status: 400, body: { errors: [{ pointer: "/seconds", code: "out_of_range" }] } });
    expect((await advance(DAY)).body.now).toMatch(/^8999-12-31T/);
    expect((await advance(2 * DAY)).status).toBe(400);
    expect((await platform.api("GET", "/v1/test_clock")).body).toMatchObject({ offset_seconds: DAY });
  });

  it.each([0, -1, 1.5, "60", null, 32_000_000])("does not advance by %j", async (seconds) => {
    const response = await platform.api("POST", "/v1/test_clock/advance", { seconds });
    expect(response.status).toBe(400);
  });

  it("advances once for an Idempotency-Key", async () => {
    const key = { "Idempotency-Key": "once" };
    const first = await platform.api("POST", "/v1/test_clock/advance", { seconds: 60 }, key);
    const second = await platform.api("POST", "/v1/test_clock/advance", { seconds: 60 }, key);
    expect(second.body).toEqual(first.body);
    expect(second.headers.get("idempotent-replayed")).toBe("true");
    expect((await platform.api("GET", "/v1/test_clock")).body.offset_seconds).toBe(60);
  });
});

describe("advancing", () => {
  it("attempts everything that becomes due meanwhile, in order and at its own time, and returns the counts", async () => {
    await createEndpoint("/a");
    await createEndpoint("/b");
    await createCustomers(3);
    await receiver.until(6);
    const real = Date.now() / 1000;
    const result = (await advance(3 * DAY)).body;
    const attempts = await attemptsOf();
    const all = [...attempts.values()].flat();
    expect(attempts.size).toBe(6);
    expect(result.attempts).toBe(all.length - 6);
    expect(result).toMatchObject({ succeeded: 0, failed: result.attempts, offset_seconds: 3 * DAY });
    expect(receiver.received).toHaveLength(all.length);
    for (const list of attempts.values()) {
      const times = list.map(({ at }) => seconds(at));
      expect(times.length).toBeGreaterThan(18);
      for (const [n, time] of times.entries()) {
        if (n === 0) continue;
        const base = Math.min(30 * 2 ** (n - 1), 6 * 3600);
        // Timestamps are whole seconds.
        expect(time - times[n - 1]!).toBeGreaterThanOrEqual(base * 0.8 - 1);
        expect(time - times[n - 1]!).toBeLessThanOrEqual(Math.min(base * 1.2, 6 * 3600) + 1);
      }
      expect(times.at(-1)! - times[0]!).toBeLessThanOrEqual(3 * DAY);
    }
    const { data } = (await platform.api("GET", "/v1/deliveries?status=failed")).body;
    expect(data).toHaveLength(6);
    // Signatures use real time; otherwise receivers would reject them.
    for (const { headers } of receiver.received) {
      const t = Number(/t=(\d+)/.exec(String(headers["service-signature"]))![1]);
      expect(Math.abs(t - real)).toBeLessThan(60);
    }
    // Requests arrived in the order of their times.
    const byDelivery = new Map<string, number>();
    const sequence = receiver.received.map(({ event, path }) => {
      const key = `${event} ${path}`;
      const n = byDelivery.get(key) ?? 0;
      byDelivery.set(key, n + 1);
      return n;
    });
    expect(Math.max(...sequence)).toBeGreaterThan(18);
    const report = platform.activities.filter((activity) => activity.event === "delivery");
    expect(report).toHaveLength(all.length);
    // A delivery may overtake another only if it started before the other's retry could be due.
    let latest = 0;
    for (const { delivery, attempt } of report.slice(6)) {
      const time = seconds(attempts.get(delivery)![attempt - 1]!.at);
      const shortestWait = 0.8 * Math.min(30 * 2 ** (attempt - 1), 6 * 3600);
      expect(time).toBeGreaterThanOrEqual(latest - shortestWait - 1);
      latest = Math.max(latest, time);
    }
  });

  it("makes the attempts of one step of the schedule concurrently, at every endpoint", async () => {
    const DELIVERIES = 30;
    // Responses to the n-th attempts wait until all of these have arrived or timed out.
    const arrived = new Map<string, ServerResponse[]>();
    const slow = await startScriptedReceiver(({ headers }, response) => {
      const number = String(headers["service-delivery-attempt"]);
      const pending = [...(arrived.get(number) ?? []), response];
      arrived.set(number, pending);
      if (pending.length === DELIVERIES) for (const one of pending) one.writeHead(500).end();
    });
    for (const path of ["/a", "/b", "/c"]) {
      await platform.api("POST", "/v1/webhook_endpoints", { url: slow.url + path, events: ["customer.*"] });
    }
    await createCustomers(DELIVERIES / 3);
    await expect.poll(async () => (await attemptsOf()).size).toBe(DELIVERIES);
    // By then six waits have passed and no seventh, with any jitter.
    const { attempts, failed } = (await advance(2600)).body;
    expect([attempts, failed]).toEqual([6 * DELIVERIES, 6 * DELIVERIES]);
    const statuses = [...(await attemptsOf()).values()].flat().map(({ status_code: status }) => status);
    expect(statuses).toEqual(Array.from({ length: 7 * DELIVERIES }, () => 500));
    await slow.close();
  });

  it("stops at its target", async () => {
    await createEndpoint("/a");
    await createCustomers(1);
    await receiver.until(1);
    expect((await advance(20)).body.attempts).toBe(0);
    expect((await advance(20)).body.attempts).toBe(1);
    expect(receiver.received).toHaveLength(2);
  });

  it("does not skip an event that is created in between", async () => {
    await createEndpoint("/first");
    let created: Promise<unknown> | undefined;
    respond = (path) => {
      // During the advance, another event is created for a separate endpoint.
      if (path === "/first" && receiver.at("/first").length === 5) {
        created = createEndpoint("/between").then(() => createCustomers(1));
      }
      return 500;
    };
    await createCustomers(1);
    await receiver.until(1);
    const { attempts } = (await advance(3 * DAY)).body;
    await created;
    await receiver.until(1, "/between");
    const times = [...(await attemptsOf()).values()].map((list) => list.map(({ at }) => seconds(at)));
    expect(times.length).toBe(3);
    // The delivery fell due during the advance, so its retries up to the end were attempted too.
    expect(receiver.at("/between").length).toBeGreaterThan(10);
    expect(attempts).toBe(receiver.received.length - 1);
    const end = Date.now() / 1000 + 3 * DAY;
    const { data } = (await platform.api("GET", "/v1/deliveries")).body;
    expect(data.length).toBe(3);
    // Every remaining delivery is due after the end.
    for (const { status, next_attempt: next } of data) {
      expect(status === "failed" || seconds(next) > end - 60, `${status}, next ${next}`).toBe(true);
    }
  });

  it("is rejected while the clock is advancing", async () => {
    let release = () => {};
    const pending = new Promise<void>((resolve) => (release = resolve));
    const slow = await startScriptedReceiver((_request, response) => {
      if (slow.received.length === 1) response.writeHead(500).end();
      else void pending.then(() => response.end());
    });
    await platform.api("POST", "/v1/webhook_endpoints", { url: slow.url, events: ["customer.*"] });
    await createCustomers(1);
    await slow.until(1);
    const first = advance(60);
    await slow.until(2);
    const second = await advance(60);
    expect([second.status, second.body.code]).toEqual([409, "test_clock_advancing"]);
    release();
    expect((await first).body).toMatchObject({ attempts: 1, succeeded: 1, failed: 0, offset_seconds: 60 });
    expect((await advance(60)).body.offset_seconds).toBe(120);
    await slow.close();
  });

  it("waits for attempts in flight, and continues with their results", async () => {
    let release = () => {};
    const pending = new Promise<void>((resolve) => (release = resolve));
    const slow = await startScriptedReceiver((_request, response) => {
      void pending.then(() => response.writeHead(500).end());
    });
    await platform.api("POST", "/v1/webhook_endpoints", { url: slow.url, events: ["customer.*"] });
    await createCustomers(3);
    await slow.until(3);
    const both = [advance(60), advance(60)];
    const rejected = await Promise.race(both);
    expect([rejected.status, rejected.body.code]).toEqual([409, "test_clock_advancing"]);
    expect(slow.received).toHaveLength(3);
    release();
    const done = (await Promise.all(both)).find(({ status }) => status === 200);
    expect(done!.body).toMatchObject({ attempts: 3, failed: 3, offset_seconds: 60 });
    const attempts = [...(await attemptsOf()).values()];
    expect(attempts.map((list) => list.length)).toEqual([2, 2, 2]);
    expect(slow.received).toHaveLength(6);
    await slow.close();
  });

  it("returns 202 for a long advance, shows its progress, and stops when it is canceled", async () => {
    await platform.restart({ requestSeconds: 4 });
    const pending: ServerResponse[] = [];
    let holds = false;
    const slow = await startScriptedReceiver((_request, response) => {
      if (holds) pending.push(response);
      else response.writeHead(500).end();
    });
    await platform.api("POST", "/v1/webhook_endpoints", { url: slow.url, events: ["customer.*"] });
    await createCustomers(2);
    await slow.until(2);
    await expect.poll(async () => [...(await attemptsOf()).values()].flat()).toHaveLength(2);
    holds = true;
    const key = { "Idempotency-Key": "long" };
    const ask = () => platform.api("POST", "/v1/test_clock/advance", { seconds: 3600 }, key);
    const accepted = await ask();
    expect([accepted.status, accepted.body]).toEqual([
      202,
      expect.objectContaining({ status: "advancing", attempts: 0, remaining: 2 }),
    ]);
    expect(seconds(accepted.body.target) - Date.now() / 1000).toBeGreaterThan(3500);
    expect((await platform.api("GET", "/v1/test_clock")).body).toMatchObject({ status: "advancing", remaining: 2 });

    const canceled = await platform.api("POST", "/v1/test_clock/cancel");
    expect([canceled.status, canceled.body.status]).toEqual([200, "canceled"]);
    expect(canceled.body.offset_seconds).toBeLessThan(60);
    for (const response of pending) response.writeHead(500).end();
    // Attempts in flight are recorded, and no others start.
    await expect.poll(async () => [...(await attemptsOf()).values()].flat()).toHaveLength(4);
    const again = await ask();
    expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([200, "true"]);
    expect(again.body).toMatchObject({ status: "canceled", target: accepted.body.target, attempts: 2, failed: 2 });
    holds = false;
    expect((await advance(60)).body).toMatchObject({
      status: "idle",
      offset_seconds: canceled.body.offset_seconds + 60,
    });
    await slow.close();
  });

  it("does not affect live deliveries", async () => {
    const live = await platform.live("POST", "/v1/webhook_endpoints", { url: "https://live.invalid/", events: ["*"] });
    expect(live.status).toBe(201);
    await platform.live("POST", "/v1/customers", { email: "a@example.com" });
    await expect.poll(async () => (await platform.live("GET", "/v1/deliveries")).body.data[0].attempt_count).toBe(1);
    await advance(3 * DAY);
    expect((await platform.live("GET", "/v1/deliveries")).body.data).toMatchObject([
      { attempt_count: 1, status: "pending" },
    ]);
  });

  it("keeps a listener's delivery at the time of its event if the clock moves before it is reported", async () => {
    const listener = await listenTo(platform.baseUrl, platform.sandboxKey);
    await createCustomers(1);
    await listener.until(1);
    await advance(DAY);
    listener.ack(1);
    const deliveries = async () => (await platform.api("GET", "/v1/deliveries")).body.data;
    await expect.poll(async () => (await deliveries()).length).toBe(1);
    const [delivery] = await deliveries();
    const event = (await platform.api("GET", `/v1/events/${delivery.event}`)).body;
    const [{ at }] = (await platform.api("GET", `/v1/deliveries/${delivery.id}`)).body.attempts;
    for (const time of [delivery.created, at]) {
      expect(seconds(time) - seconds(event.created)).toBeGreaterThanOrEqual(0);
      expect(seconds(time) - seconds(event.created)).toBeLessThan(DAY / 2);
    }
    await platform.api("POST", "/v1/orders", { amount: 1, currency: "EUR" });
    await listener.until(2);
    listener.ack(2);
    await expect.poll(async () => (await deliveries()).length).toBe(2);
    const [later] = await deliveries();
    expect(seconds(later.created) - seconds(event.created)).toBeGreaterThanOrEqual(DAY);
    await listener.close();
  });

  it("continues after a restart from where it stopped", async () => {
    await createEndpoint("/a");
    await createCustomers(1);
    await receiver.until(1);
    let restarted: Promise<void> | undefined;
    respond = () => {
      if (receiver.received.length === 6) restarted = platform.restart();
      return 500;
    };
    const stopped = await platform.api("POST", "/v1/test_clock/advance", { seconds: 3 * DAY });
    expect([stopped.status, stopped.body.status]).toEqual([202, "advancing"]);
    const { target, offset_seconds: offset } = stopped.body;
    expect(offset).toBeGreaterThan(60);
    expect(offset).toBeLessThan(3 * DAY);
    await restarted;
    await expect.poll(async () => (await platform.api("GET", "/v1/test_clock")).body.status).toBe("idle");
    const arrived = (await platform.api("GET", "/v1/test_clock")).body;
    expect(arrived).toMatchObject({ offset_seconds: 3 * DAY, target, remaining: 0 });
    const [attempts] = [...(await attemptsOf()).values()];
    expect(attempts).toHaveLength(receiver.received.length);
    expect(arrived.attempts).toBe(receiver.received.length - 1);
    expect((await platform.api("GET", "/v1/deliveries")).body.data[0].status).toBe("failed");
  });
});
