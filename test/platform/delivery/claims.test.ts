import type { ServerResponse } from "node:http";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Clock, systemClock } from "../../../src/platform/ports.ts";
import { type HostedPlatform, hostPlatform } from "./support/hosted-platform.ts";
import { type ScriptedReceiver, startScriptedReceiver } from "./support/scripted-receiver.ts";

const KIB = 1024;

let receiver: ScriptedReceiver;
let platform: HostedPlatform;
/** Pending responses by path. */
let pending: Map<string, ServerResponse[]>;

beforeEach(async () => {
  pending = new Map();
  receiver = await startScriptedReceiver(({ path }, response) => {
    if (path.startsWith("/fast")) response.end();
    else pending.set(path, [...(pending.get(path) ?? []), response]);
  });
});
afterEach(async () => {
  for (const response of [...pending.values()].flat()) response.end();
  await platform.close();
  await receiver.close();
});

async function createEndpoint(path: string, type: string): Promise<string> {
  const created = await platform.api("POST", "/v1/webhook_endpoints", { url: receiver.url + path, events: [type] });
  expect(created.status).toBe(201);
  return created.body.id;
}

async function createEvent(type: string, bytes = 0): Promise<string> {
  const data = { id: "ord_1", filler: "x".repeat(bytes) };
  const created = await platform.api("POST", "/v1/events", { type, data });
  expect(created.status).toBe(201);
  return created.body.id;
}

function release(path: string): void {
  const responses = pending.get(path)!;
  pending.set(path, []);
  for (const response of responses) response.end();
}

describe("the bodies of claimed deliveries", () => {
  it("share one buffer for all deliveries of an event", async () => {
    // Ten copies would exceed the limit.
    platform = await hostPlatform({ deliveryLimits: { bodyBytes: 300 * KIB } });
    for (let i = 0; i < 10; i++) await createEndpoint(`/slow/${i}`, "order.created");
    await createEvent("order.created", 80 * KIB);
    await receiver.until(10);
    expect(new Set(receiver.received.map(({ body }) => body.length)).size).toBe(1);
  });

  it("stay within a limit, leave capacity for other endpoints, and are all sent eventually", async () => {
    platform = await hostPlatform({ deliveryLimits: { bodyBytes: 300 * KIB } });
    await createEndpoint("/slow", "order.created");
    await createEndpoint("/other", "order.completed");
    await createEndpoint("/fast", "order.canceled");
    const slow: string[] = [];
    for (let i = 0; i < 6; i++) slow.push(await createEvent("order.created", 40 * KIB));
    // The first endpoint gets a third of the limit, because it leaves twice as much to others.
    await receiver.until(2, "/slow");
    await createEvent("order.completed", 40 * KIB);
    await createEvent("order.canceled");
    await receiver.until(1, "/other");
    await receiver.until(1, "/fast");
    expect(receiver.at("/slow")).toHaveLength(2);
    for (let sent = 2; sent <= 6; sent += 2) {
      await receiver.until(sent, "/slow");
      expect(receiver.at("/slow")).toHaveLength(sent);
      release("/slow");
    }
    const delivered = async () =>
      (await platform.api("GET", "/v1/deliveries?status=succeeded")).body.data.map(
        ({ event }: { event: string }) => event,
      );
    await expect.poll(delivered).toEqual(expect.arrayContaining(slow));
  });

  it("may be larger than the limit, one at a time", async () => {
    platform = await hostPlatform({ deliveryLimits: { bodyBytes: KIB } });
    await createEndpoint("/slow", "order.created");
    for (let i = 0; i < 2; i++) await createEvent("order.created", 40 * KIB);
    await receiver.until(1);
    release("/slow");
    await receiver.until(2);
    expect(receiver.received[1]!.body.length).toBeGreaterThan(40 * KIB);
  });
});

describe("a delivery that was claimed early", () => {
  it("is released instead of sent to an outdated URL once it has waited too long", async () => {
    let skipped = 0;
    let isFrozen = false;
    const clock: Clock = {
      now: systemClock.now,
      elapsed: () => systemClock.elapsed() + skipped,
      uptime: systemClock.uptime,
      // While time is frozen, the worker does not run automatically.
      after: (milliseconds, callback) =>
        systemClock.after(milliseconds, () => {
          if (!isFrozen || milliseconds > 250) callback();
        }),
    };
    platform = await hostPlatform({ clock, deliveryLimits: { perEndpoint: 1 } });
    const endpoint = await createEndpoint("/slow", "order.created");
    for (let i = 0; i < 4; i++) await createEvent("order.created");
    await receiver.until(1);
    // The number of claimed deliveries depends on the endpoint's response time.
    release("/slow");
    await receiver.until(2);
    isFrozen = true;
    const url = `${receiver.url}/fast`;
    expect((await platform.api("PATCH", `/v1/webhook_endpoints/${endpoint}`, { url })).status).toBe(200);
    skipped = 5000;
    release("/slow");
    await receiver.until(1, "/fast");
    isFrozen = false;
    await receiver.until(2, "/fast");
    expect(receiver.at("/slow")).toHaveLength(2);
  });
});
