import { mkdtempSync, rmSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { apiOf } from "../../support/api.ts";
import { freePort } from "../../support/free-port.ts";
import { type RunningPlatform, startPlatformOn } from "../../support/platform.ts";
import { type ScriptedReceiver, startScriptedReceiver } from "./support/scripted-receiver.ts";

let folder: string;
let platform: RunningPlatform;
let receiver: ScriptedReceiver;
/** Pending responses to all attempts after the first. */
let pending: ServerResponse[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "service-clock-"));
  pending = [];
});
afterEach(async () => {
  await platform.kill();
  await receiver.close();
  rmSync(folder, { recursive: true, force: true });
});

it("an advance of the test clock continues after a crash and restart", async () => {
  receiver = await startScriptedReceiver((_request, response) => {
    if (receiver.received.length === 1) response.writeHead(500).end();
    else pending.push(response);
  });
  const database = join(folder, "platform.db");
  platform = await startPlatformOn(database, await freePort());
  const { sandboxKey } = platform;
  let api = apiOf(platform.baseUrl, sandboxKey);
  await api("POST", "/v1/webhook_endpoints", { url: receiver.url, events: ["*"] });
  await api("POST", "/v1/orders", { amount: 1, currency: "EUR" });
  const delivery = async () => (await api("GET", "/v1/deliveries")).body.data[0];
  const clock = async () => (await api("GET", "/v1/test_clock")).body;
  await expect.poll(async () => (await delivery()).attempt_count).toBe(1);
  const key = { "Idempotency-Key": "cut-off" };
  const advance = () => api("POST", "/v1/test_clock/advance", { seconds: 3600 }, key);
  const cut = advance().catch(() => undefined);
  await receiver.until(2);
  const { target } = await clock();
  await platform.kill();
  await cut;
  platform = await startPlatformOn(database, await freePort());
  api = apiOf(platform.baseUrl, sandboxKey);
  await receiver.until(3);
  pending[1]!.end();
  await expect.poll(async () => (await clock()).status).toBe("idle");
  const again = await advance();
  expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([200, "true"]);
  expect(again.body).toMatchObject({ offset_seconds: 3600, target });
  // The interrupted attempt counts.
  expect(await delivery()).toMatchObject({ status: "succeeded", attempt_count: 3 });
});
