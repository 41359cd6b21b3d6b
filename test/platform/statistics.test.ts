import { afterAll, beforeAll, expect, it } from "vitest";
import { type ScriptedReceiver, startScriptedReceiver } from "./delivery/support/scripted-receiver.ts";
import { embeddedPlatform, startEmbedded } from "./oauth/support/embedded-platform.ts";
import { type Api, apiOf } from "../support/api.ts";
import { systemClock } from "../../src/platform/ports.ts";

const MINUTE = 60_000;
const SLOW_MILLISECONDS = 1200;

const platform = embeddedPlatform({ allowPrivateTargets: true });
let receiver: ScriptedReceiver;
let api: Api;

beforeAll(async () => {
  receiver = await startScriptedReceiver((request, response) => {
    response.statusCode = request.path === "/refuses" ? 503 : 200;
    const isSlow =
      request.path === "/slow" || (request.path === "/slow-at-times" && receiver.at(request.path).length % 10 === 0);
    if (request.path !== "/silent") setTimeout(() => response.end(), isSlow ? SLOW_MILLISECONDS : 0);
  });
  api = apiOf(platform.baseUrl, platform.sandboxKey);
});
afterAll(() => receiver.close());

interface Minute {
  events: number;
  attempts: number;
  succeeded: number;
  failed: number;
}

const read = async (query = "", of = api) => (await of("GET", `/v1/statistics${query}`)).body;
/** Reads the last hour and another range, neither of which changed meanwhile: retries may be in flight. */
async function readTogether(query: string) {
  for (;;) {
    const hour = await read();
    const range = await read(query);
    const { totals } = await read();
    if (JSON.stringify(totals) === JSON.stringify(hour.totals)) return [hour, range];
  }
}
const sum = (minutes: Minute[], of: keyof Minute) => minutes.reduce((total, minute) => total + minute[of], 0);

it("statistics count events and attempts by minute, each once, and failures with their reasons", async () => {
  const endpoint = async (path: string, events: string[]) =>
    (await api("POST", "/v1/webhook_endpoints", { url: receiver.url + path, events })).body.id as string;
  const rejecting = await endpoint("/refuses", ["order.*"]);
  await endpoint("/takes", ["*"]);
  await api("POST", "/v1/customers", { email: "a@example.com" });
  await api("POST", "/v1/orders", { amount: 1, currency: "EUR" });
  await expect.poll(async () => sum((await read()).minutes, "attempts")).toBe(3);

  const now = await read();
  expect(now.minutes).toHaveLength(60);
  expect(sum(now.minutes, "events")).toBe(2);
  expect(sum(now.minutes, "succeeded")).toBe(2);
  expect(now.failures).toEqual([
    { endpoint: rejecting, status_code: 503, error: null, count: 1, last_at: expect.stringMatching(/Z$/) },
  ]);
  expect(now.queue).toEqual({ pending: 1, oldest_due_seconds: 0 });
  const latest = now.minutes.findLast(({ attempts }: Minute) => attempts > 0);
  expect(latest.latency_p50_ms).toBeGreaterThan(0);
  expect(latest.latency_p95_ms).toBeGreaterThanOrEqual(latest.latency_p50_ms);

  expect(now.event_types).toEqual([
    { type: "order.created", last_at: expect.stringMatching(/Z$/) },
    { type: "customer.created", last_at: expect.stringMatching(/Z$/) },
  ]);
  expect(now.listeners).toBe(0);

  const ofOne = await read(`?endpoint=${rejecting}`);
  expect([sum(ofOne.minutes, "attempts"), sum(ofOne.minutes, "failed"), ofOne.queue.pending]).toEqual([1, 1, 1]);
});

it("latency percentiles are close to those of the attempts, and never below", async () => {
  const own = await startEmbedded({ allowPrivateTargets: true, clock: systemClock });
  try {
    const call = apiOf(own.baseUrl, own.sandboxKey);
    await call("POST", "/v1/webhook_endpoints", { url: `${receiver.url}/slow-at-times`, events: ["order.created"] });
    for (let order = 0; order < 40; order++) await call("POST", "/v1/orders", { amount: 1, currency: "EUR" });
    const deliveries = async () => (await call("GET", "/v1/deliveries?status=succeeded&limit=100")).body.data;
    await expect.poll(async () => (await deliveries()).length).toBe(40);
    const durations: number[] = [];
    for (const { id } of await deliveries()) {
      durations.push((await call("GET", `/v1/deliveries/${id}`)).body.attempts[0].duration_ms);
    }
    durations.sort((a, b) => a - b);
    const { totals } = await read("", call);
    for (const [percentile, exact] of [
      [totals.latency_p50_ms, durations[19]!],
      [totals.latency_p95_ms, durations[37]!],
    ]) {
      expect(percentile).toBeGreaterThanOrEqual(exact);
      expect(percentile).toBeLessThanOrEqual(Math.max(exact * 1.35, exact + 1));
    }
    expect(totals.latency_p95_ms).toBeGreaterThanOrEqual(SLOW_MILLISECONDS);
  } finally {
    await own.close();
  }
});

it("latency percentiles count a timeout as the time limit, and leave out other attempts without a response", async () => {
  const own = await startEmbedded({ allowPrivateTargets: true, clock: systemClock });
  try {
    const call = apiOf(own.baseUrl, own.sandboxKey);
    const closed = await startScriptedReceiver((_request, response) => response.end());
    await closed.close();
    for (const url of [closed.url, `${closed.url}/also`, `${receiver.url}/slow`, `${receiver.url}/silent`]) {
      await call("POST", "/v1/webhook_endpoints", { url, events: ["order.created"] });
    }
    await call("POST", "/v1/orders", { amount: 1, currency: "EUR" });
    const silent = (await call("GET", "/v1/webhook_endpoints")).body.data[0].id;
    const ofSilent = async () => (await read(`?endpoint=${silent}`, call)).totals;
    await expect.poll(async () => (await ofSilent()).attempts, { timeout: 20_000 }).toBe(1);
    expect(await ofSilent()).toMatchObject({ latency_p50_ms: 10_000, latency_p95_ms: 10_000 });
    const { totals } = await read("", call);
    expect(totals).toMatchObject({ succeeded: 1, latency_p95_ms: 10_000 });
    expect(totals.latency_p50_ms).toBeGreaterThanOrEqual(SLOW_MILLISECONDS);
    expect(totals.latency_p50_ms).toBeLessThan(5000);
    const [{ id: refused }] = (await call("GET", "/v1/webhook_endpoints")).body.data.slice(2);
    expect((await read(`?endpoint=${refused}`, call)).totals).toMatchObject({ attempts: 1, latency_p50_ms: null });
  } finally {
    await own.close();
  }
});

it("statistics stay the same after the minutes are over, and exclude other environments", async () => {
  const before = sum((await read()).minutes, "events");
  platform.advance(10 * MINUTE);
  for (const _look of [1, 2]) {
    const later = await read();
    expect(sum(later.minutes, "events")).toBe(before);
    expect(sum(later.minutes.slice(-5), "events")).toBe(0);
  }
  const live = await read("?minutes=360", apiOf(platform.baseUrl, platform.liveKey));
  expect(live.minutes).toHaveLength(360);
  expect([sum(live.minutes, "events"), sum(live.minutes, "attempts"), live.queue.pending]).toEqual([0, 0, 0]);
});

it("statistics cover at most 7 days, and add up several minutes of a long range", async () => {
  for (const [minutes, each] of [
    [1440, 4],
    [10_080, 28],
  ] as const) {
    const [hour, range] = await readTogether(`?minutes=${minutes}`);
    expect(range.minutes).toHaveLength(360);
    const [first, second] = range.minutes.map(({ at }: { at: string }) => Date.parse(at));
    expect(second - first).toBe(each * MINUTE);
    expect(Date.parse(range.minutes.at(-1).at) + each * MINUTE).toBeGreaterThan(Date.parse(range.now));
    for (const of of ["events", "attempts", "failed"] as const) {
      expect(sum(range.minutes, of)).toBe(sum(hour.minutes, of));
      expect(range.totals[of]).toBe(sum(hour.minutes, of));
    }
  }
  const partial = await read("?minutes=361");
  expect(partial.minutes).toHaveLength(181);
  expect((await api("GET", "/v1/statistics?minutes=10081")).body.errors[0]).toMatchObject({ pointer: "?minutes" });
});
