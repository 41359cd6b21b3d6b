import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { BulkOperation } from "../../src/contract/schemas/bulk-operation.ts";
import type { Delivery } from "../../src/contract/schemas/delivery.ts";
import { cliOnPlatform } from "../support/cli-on-platform.ts";
import { startListener } from "../support/listener.ts";
import { type ScriptedReceiver, startScriptedReceiver } from "../platform/delivery/support/scripted-receiver.ts";

const cli = cliOnPlatform();
const { json, service } = cli;

let receiver: ScriptedReceiver;
let status = 500;
beforeAll(async () => {
  receiver = await startScriptedReceiver((_request, response) => response.writeHead(status).end());
});
beforeEach(() => json("sandbox", "reset", "--yes"));
afterAll(() => receiver.close());

const failed = () => json<Delivery[]>("deliveries", "list", "--receiver", "listener", "--status", "failed");
const listen = () => startListener(cli.platform.env, ["--forward-to", `${receiver.url}/hooks`, "--retries", "0"]);

/** Forwards events to an application that fails, and stops the listener. */
async function failForwards(count: number): Promise<void> {
  status = 500;
  const listener = await listen();
  await service(["trigger", "order.created", "--count", String(count)]);
  await expect.poll(async () => (await failed()).length).toBe(count);
  await listener.interrupt();
}

describe.each([
  ["deliveries", "retry"],
  ["events", "replay"],
])("service %s %s --failed", (noun, verb) => {
  it("sends what failed at a listener again while one is connected, each event once", async () => {
    await failForwards(3);
    status = 204;
    const before = receiver.received.length;
    const listener = await listen();
    expect(await json<BulkOperation>(noun, verb, "--failed")).toMatchObject({ total: 3, done: 3, failed: 0 });
    await expect.poll(failed).toEqual([]);
    expect(receiver.received.length).toBe(before + 3);
    const again = await service([noun, verb, "--failed"]);
    expect(again).toMatchObject({ exitCode: 0, stderr: expect.stringMatching(/^No (deliveries|events) match\.\n$/) });
    await listener.interrupt();
  });

  it("names the command that sends it without a listener", async () => {
    await failForwards(1);
    const { exitCode, stderr } = await service([noun, verb, "--failed", "--since", "1h"]);
    const command = `service events replay --failed --forward-to ${receiver.url}/hooks --since 1h`;
    expect({ exitCode, stderr }).toEqual({
      exitCode: 0,
      stderr: `No ${noun} match.\nTo resend what failed at a listener, while none runs:\n  ${command}\n`,
    });
  });
});

describe("service events replay --failed --forward-to", () => {
  const replay = () => service(["events", "replay", "--failed", "--forward-to", `${receiver.url}/hooks`]);

  it("forwards the failed events, and reports how many the application accepted", async () => {
    await failForwards(2);
    const rejected = await replay();
    expect(rejected).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("accepted 0 of 2 events") });
    expect(rejected.stderr).toMatch(/For the likely cause of the first failure: service why evt_/);
    status = 204;
    const { exitCode, stderr } = await replay();
    expect({ exitCode, stderr }).toEqual({
      exitCode: 0,
      stderr: expect.stringContaining(`${receiver.url}/hooks accepted 2 of 2 events\n`),
    });
    await expect.poll(failed).toEqual([]);
  });

  it("is not named again once another address has the events", async () => {
    await failForwards(1);
    status = 204;
    expect(await service(["events", "replay", "--failed", "--forward-to", `${receiver.url}/other`])).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining("/other responded with 204"),
    });
    const other = () => json<Delivery[]>("deliveries", "list", "--receiver", "listener", "--status", "succeeded");
    await expect.poll(async () => (await other()).length).toBe(1);
    expect(await replay()).toMatchObject({ exitCode: 0, stderr: "No events match.\n" });
  });
});
