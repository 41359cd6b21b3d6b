import type { ServerResponse } from "node:http";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { startPlatformOn } from "../../support/platform.ts";
import { startScriptedReceiver } from "./support/scripted-receiver.ts";

const PER_ENDPOINT = 20;
const EVENTS = 3 * PER_ENDPOINT;

it("an attempt that waited for a slot counts even if the platform is killed during it", async () => {
  const database = join(mkdtempSync(join(tmpdir(), "service-interrupted-")), "platform.db");
  let platform = await startPlatformOn(database);
  onTestFinished(() => platform.kill());
  const pending: { event: string; response: ServerResponse }[] = [];
  const receiver = await startScriptedReceiver(({ event }, response) => pending.push({ event, response }));
  onTestFinished(() => receiver.close());
  const respond = (count: number) => {
    for (const { response } of pending.splice(0, count)) response.end("ok");
  };
  const created = await platform.api("POST", "/v1/webhook_endpoints", { url: receiver.url, events: ["*"] });
  expect(created.status).toBe(201);
  for (let i = 0; i < EVENTS; i++) {
    const event = { type: "order.completed", data: { id: `ord_${i}` } };
    expect((await platform.api("POST", "/v1/events", event)).status).toBe(201);
  }
  await receiver.until(PER_ENDPOINT);
  // For an endpoint this fast the worker claims deliveries ahead, which wait for a slot.
  respond(PER_ENDPOINT);
  await receiver.until(2 * PER_ENDPOINT);
  respond(PER_ENDPOINT / 2);
  await receiver.until(2.5 * PER_ENDPOINT);
  const succeeded = async () =>
    (await platform.api("GET", "/v1/deliveries?status=succeeded&limit=100")).body.data.length;
  await expect.poll(succeeded).toBe(1.5 * PER_ENDPOINT);
  const interrupted = new Set(pending.map(({ event }) => event));
  expect(interrupted.size).toBe(PER_ENDPOINT);
  await platform.kill();
  platform = await startPlatformOn(database);
  for (const event of interrupted) {
    const [delivery] = (await platform.api("GET", `/v1/deliveries?event=${event}`)).body.data;
    const { attempts } = (await platform.api("GET", `/v1/deliveries/${delivery.id}`)).body;
    expect(attempts[0]).toMatchObject({ status_code: null, error: expect.stringContaining("interrupted") });
  }
});
