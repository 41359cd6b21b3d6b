import { afterEach, describe, expect, it } from "vitest";
import type { Delivery } from "../../src/contract/schemas/delivery.ts";
import type { Event } from "../../src/contract/schemas/event.ts";
import { cliOnPlatform } from "../support/cli-on-platform.ts";
import { type ScriptedReceiver, startScriptedReceiver } from "./support/scripted-receiver.ts";

const cli = cliOnPlatform();
const { json, service } = cli;

const receivers: ScriptedReceiver[] = [];
afterEach(async () => {
  await service(["sandbox", "reset", "--remove-endpoints", "--yes"]);
  await Promise.all(receivers.splice(0).map((receiver) => receiver.close()));
});

/** Creates an endpoint whose receiver responds with this status, and an event. Resolves once the delivery was attempted. */
async function deliveredWith(status: number, events = "*"): Promise<{ endpoint: string; delivery: Delivery }> {
  const receiver = await startScriptedReceiver({ status, body: "out of stock" });
  receivers.push(receiver);
  const { id: endpoint } = await json<{ id: string }>("endpoints", "create", "--url", receiver.url, "--events", events);
  const { id } = await json<Event>("trigger", "order.created");
  const list = () => json<Delivery[]>("deliveries", "list", "--event", id, "--endpoint", endpoint);
  await expect.poll(async () => (await list())[0]?.attempt_count).toBeGreaterThan(0);
  return { endpoint, delivery: (await list())[0]! };
}

/** Makes a request that the platform rejects, as a slip at the keyboard. */
async function slip(): Promise<void> {
  const { stdout: order } = await service(["trigger", "order.completed", "--jq", ".data.object.id"]);
  expect((await service(["orders", "complete", order.trim()])).exitCode).toBe(1);
}

describe("service why without an ID", () => {
  it("explains a newer event that reached no receiver, and names the failed delivery before it", async () => {
    const { endpoint, delivery } = await deliveredWith(500);
    await service(["endpoints", "disable", endpoint]);
    const { id } = await json<Event>("trigger", "order.created");
    const { stdout, stderr } = await service(["why"]);
    expect(stdout).toContain("was disabled");
    expect(stderr).toBe(`Newest failure: ${id}. Before it: service why ${delivery.id}\n`);
  });

  it("explains a failed delivery rather than a later event for which there is no receiver", async () => {
    const { delivery } = await deliveredWith(500, "order.*");
    await json("customers", "create", "--email", "ada@example.com");
    expect((await service(["why"])).stderr).toContain(`Newest failure: ${delivery.id}`);
  });

  it("explains a failed delivery rather than a later request of the CLI that was rejected", async () => {
    const { delivery } = await deliveredWith(500);
    await slip();
    const { stdout, stderr } = await service(["why"]);
    expect(stdout).toContain("out of stock");
    expect(stderr).toMatch(/^Newest failure: dlv_\w+\. For all: service deliveries list --status retrying\n$/);
    expect(stderr).not.toContain("req_");
    expect(await json("why", delivery.id)).toMatchObject({ cause: "receiver_error" });
  });

  it("explains a failed delivery rather than an ID mistyped later", async () => {
    await deliveredWith(500);
    expect((await service(["events", "replay", "evt_4Vf8aTqz0bKm2sNw9XyRcd"])).exitCode).toBe(3);
    expect((await service(["why"])).stdout).toContain("out of stock");
  });

  it("explains a rejected request of the CLI until the same one succeeds, if nothing else failed", async () => {
    await deliveredWith(200);
    await slip();
    await expect.poll(async () => (await service(["why"])).stdout).toContain("failed with 409 invalid_transition");
    const { stdout, stderr } = await service(["why"]);
    expect(stderr).toMatch(/^Newest failure: req_\w{22}\n$/);
    expect(stdout.match(/invalid_transition/g)).toHaveLength(1);
    await service(["customers", "create", "--email", "ada@example.com"]);
    expect((await service(["why"])).stderr).toMatch(/^Newest failure: req_\w{22}\n$/);
  });

  it("says what it leaves out if nothing else failed", async () => {
    const create = (email: string) => service(["customers", "create", "--email", email]);
    await create("ada@example.com");
    expect((await create("ada@example.com")).exitCode).toBe(1);
    expect((await service(["customers", "get", "cus_4Vf8aTqz0bKm2sNw9XyRcd"])).exitCode).toBe(3);
    await create("bob@example.com");
    await deliveredWith(200);
    await expect
      .poll(async () => (await service(["why"])).stderr)
      .toBe(
        "No failed deliveries or API requests. This leaves out reads and IDs that do not exist: service logs list --status 4xx\n",
      );
  });
});
