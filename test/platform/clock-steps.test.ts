import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type HostedPlatform, hostPlatform } from "../delivery/support/hosted-platform.ts";
import { createMinuteClock, type MinuteClock } from "../delivery/support/minute-clock.ts";
import { type ScriptedReceiver, startScriptedReceiver } from "../delivery/support/scripted-receiver.ts";
import { apiOf } from "../support/api.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const BURST = 3;

let clock: MinuteClock;
let platform: HostedPlatform;
let receiver: ScriptedReceiver;

beforeAll(async () => {
  clock = createMinuteClock();
  receiver = await startScriptedReceiver(({ path }, response) => response.writeHead(path === "/500" ? 500 : 200).end());
  // Ten requests a second for each credential.
  platform = await hostPlatform({ clock, rateLimits: { perSecond: 10, burst: BURST } });
});
beforeEach(() => clock.set(0));
afterAll(async () => {
  await platform.close();
  await receiver.close();
});

describe("when the wall clock is set back by a day", () => {
  it("a credential that used up its rate limit may call again after the usual time", async () => {
    const statuses = async () =>
      (await Promise.all(Array.from({ length: 2 * BURST }, () => platform.api("GET", "/v1/me")))).map(
        ({ status }) => status,
      );
    expect(await statuses()).toContain(429);
    clock.set(-DAY);
    await expect.poll(statuses).toContain(200);
  });

  it("the gauges of the queue move", async () => {
    const pending = async () =>
      /^service_deliveries_pending (\d+)$/m.exec(
        (await apiOf(platform.baseUrl, undefined)("GET", "/metrics")).body,
      )?.[1];
    expect(await pending()).toBe("0");
    clock.set(-DAY);
    const live = { url: "https://live.invalid/", events: ["*"] };
    await expect.poll(async () => (await platform.live("POST", "/v1/webhook_endpoints", live)).status).toBe(201);
    await expect
      .poll(async () => (await platform.live("POST", "/v1/customers", { email: "a@example.com" })).status)
      .toBe(201);
    await expect.poll(pending).toBe("1");
  });
});
