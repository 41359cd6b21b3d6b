import type { ServerResponse } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { systemClock } from "../../../src/platform/ports.ts";
import { advanceClock } from "../../support/advance-clock.ts";
import { volume } from "../../support/volume.ts";
import { type HostedPlatform, hostPlatform } from "./support/hosted-platform.ts";
import { type Script, startScriptedReceiver } from "./support/scripted-receiver.ts";

const DELIVERIES = volume(1800);
const PER_ENDPOINT = 20;
const PATIENT = { timeout: 600_000 };
/** Enough time for six retries with any jitter, and never for a seventh. */
const SIX_WAITS_SECONDS = 2600;

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A platform that measures the duration of attempts with a test clock, and retries only when the sandbox's is advanced. */
async function host(elapsed: () => number): Promise<HostedPlatform> {
  const started = Date.now();
  const platform = await hostPlatform({
    clock: { ...systemClock, now: () => started, elapsed },
    deliveryLimits: { perEndpoint: PER_ENDPOINT, perProcess: DELIVERIES / 2 },
  });
  closing.push(() => platform.close());
  return platform;
}

/** Creates deliveries whose first attempt has failed, equally many for each endpoint. */
async function createFailed(platform: HostedPlatform, script: Script, count: number, endpoints: number) {
  const receiver = await startScriptedReceiver(script);
  closing.push(() => receiver.close());
  for (let i = 0; i < endpoints; i++) {
    const endpoint = { url: `${receiver.url}/${i}`, events: ["order.completed"] };
    expect((await platform.api("POST", "/v1/webhook_endpoints", endpoint)).status).toBe(201);
  }
  for (let i = 0; i < count / endpoints; i++) {
    const event = { type: "order.completed", data: { id: `ord_${i}` } };
    expect((await platform.api("POST", "/v1/events", event)).status).toBe(201);
  }
  await expect.poll(() => attemptsOf(platform), PATIENT).toBe(count);
}

const attemptsOf = ({ activities }: HostedPlatform) => activities.filter(({ event }) => event === "delivery").length;

const numberOf = ({ headers }: Parameters<Script>[0]) => Number(headers["service-delivery-attempt"]);
const fail = (response: ServerResponse) => void response.writeHead(500).end();

describe(`an advance over ${DELIVERIES} pending deliveries`, () => {
  it.each([6, 1])("attempts all of them at once, with %i endpoints that keep up", async (endpoints) => {
    const platform = await host(() => 0);
    const pending = new Map<number, ServerResponse[]>();
    const heldAtOnce = new Map<number, number>();
    const receive: Script = (request, response) => {
      const number = numberOf(request);
      // The responses show the platform that the endpoints keep up.
      if (number <= 2) return fail(response);
      const responses = [...(pending.get(number) ?? []), response];
      pending.set(number, responses);
      const open = responses.filter(({ destroyed }) => !destroyed);
      heldAtOnce.set(number, Math.max(heldAtOnce.get(number) ?? 0, open.length));
      if (responses.length === DELIVERIES) for (const one of open) fail(one);
    };
    await createFailed(platform, receive, DELIVERIES, endpoints);
    const { body } = await advanceClock(platform.api, SIX_WAITS_SECONDS);
    expect(body).toMatchObject({ status: "idle", attempts: 6 * DELIVERIES, failed: 6 * DELIVERIES });
    expect(Object.fromEntries(heldAtOnce)).toEqual(
      Object.fromEntries([3, 4, 5, 6, 7].map((number) => [number, DELIVERIES])),
    );
  });

  it("reports its progress, and stops when it is canceled", async () => {
    const platform = await host(() => 0);
    const pending: ServerResponse[] = [];
    const receive: Script = (request, response) => {
      if (numberOf(request) <= 2) fail(response);
      else pending.push(response);
    };
    await createFailed(platform, receive, DELIVERIES, 1);
    const advanced = platform.api("POST", "/v1/test_clock/advance", { seconds: SIX_WAITS_SECONDS });
    await expect.poll(() => pending.length, PATIENT).toBe(DELIVERIES);
    const clock = async () => (await platform.api("GET", "/v1/test_clock")).body;
    expect(await clock()).toMatchObject({ status: "advancing", attempts: DELIVERIES, remaining: DELIVERIES });
    const canceled = await platform.api("POST", "/v1/test_clock/cancel");
    expect(canceled).toMatchObject({ status: 200, body: { status: "canceled" } });
    for (const response of pending) fail(response);
    expect((await advanced).body).toMatchObject({ status: "canceled" });
    expect(await clock()).toMatchObject({ status: "canceled", attempts: 2 * DELIVERIES, failed: 2 * DELIVERIES });
    expect(attemptsOf(platform)).toBe(3 * DELIVERIES);
  });
});

it("an advance begins no more attempts at an endpoint that handles one at a time than normal delivery", async () => {
  const TAKES_MS = 50;
  const deliveries = 5 * PER_ENDPOINT;
  let elapsed = 0;
  const platform = await host(() => elapsed);
  const waiting: ServerResponse[] = [];
  let maxWaiting = 0;
  const respond = () => {
    elapsed += TAKES_MS;
    fail(waiting[0]!);
    waiting.shift();
    if (waiting.length > 0) setImmediate(respond);
  };
  const receive: Script = (request, response) => {
    if (numberOf(request) === 1) return fail(response);
    maxWaiting = Math.max(maxWaiting, waiting.push(response));
    if (waiting.length === 1) setImmediate(respond);
  };
  await createFailed(platform, receive, deliveries, 1);
  const { body } = await advanceClock(platform.api, SIX_WAITS_SECONDS);
  expect(body).toMatchObject({ attempts: 6 * deliveries, failed: 6 * deliveries });
  expect(maxWaiting).toBeGreaterThan(1);
  expect(maxWaiting).toBeLessThan(2 * PER_ENDPOINT);
});
