import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Delivery } from "../../src/contract/schemas/delivery.ts";
import type { Event, Replay } from "../../src/contract/schemas/event.ts";
import type { WebhookEndpoint } from "../../src/contract/schemas/webhook-endpoint.ts";
import { freePort } from "../support/free-port.ts";
import { startListener } from "../support/listener.ts";
import { startPlatformOn } from "../support/platform.ts";
import { createConfigDir, runCli } from "../support/run-cli.ts";
import { CTRL_C, runInTerminal } from "../support/terminal.ts";
import { type ScriptedReceiver, startScriptedReceiver } from "./support/scripted-receiver.ts";
import { cliOnPlatform } from "../support/cli-on-platform.ts";
import { startTail } from "./support/tail.ts";

const cli = cliOnPlatform();
const { json, service } = cli;

let receiver: ScriptedReceiver;
beforeAll(async () => {
  receiver = await startScriptedReceiver({ status: 200 });
});
afterAll(() => receiver.close());

const tailEvents = (args: readonly string[], env = cli.platform.env) => startTail(["events", "tail", ...args], env);
const provoke = (type = "customer.created", env = cli.platform.env) => service(["trigger", type, "-q"], { env });

describe("service events tail", () => {
  it("prints each new event once, oldest first, as the API's own object", async () => {
    const tail = tailEvents(["--json"]);
    await tail.begun(() => provoke());
    await json("trigger", "order.completed");
    const burst = await service(["trigger", "customer.created", "--count", "150", "--json"]);
    const ids = burst.stdout
      .trimEnd()
      .split("\n")
      .map((line) => (JSON.parse(line) as Event).id);
    const seen = () => tail.lines.map((line) => JSON.parse(line) as Event);
    await tail.until(() => ids.every((id) => seen().some((event) => event.id === id)));
    const order = seen().filter(({ type }) => type.startsWith("order."));
    expect(order.map(({ type }) => type)).toEqual(["order.created", "order.completed"]);
    expect(order[1]).toEqual(await json("events", "get", order[1]!.id));
    expect(new Set(seen().map(({ id }) => id)).size).toBe(seen().length);
    expect(tail.stderr()).toBe("");
  });

  it("omits events from before its start", async () => {
    const before = await json<Event>("trigger", "customer.created");
    const tail = tailEvents(["--quiet"]);
    await tail.begun(() => provoke());
    expect(tail.lines).not.toContain(before.id);
  });

  it.each([
    ["order.*", ["order.created", "order.completed"]],
    ["order.completed,payment.*", ["order.completed", "payment.created"]],
  ])("prints only matching events with --type %s", async (subscriptions, expected) => {
    const tail = tailEvents(["--type", subscriptions, "--json"]);
    await tail.begun(() => provoke("order.completed"));
    for (const type of ["customer.created", "payment.created"]) await json("trigger", type);
    const last = await json<Event>("trigger", "order.completed");
    const seen = () => tail.lines.map((line) => JSON.parse(line) as Event);
    await tail.until(() => seen().some(({ id }) => id === last.id));
    expect(new Set(seen().map(({ type }) => type))).toEqual(new Set(expected));
  });

  it("reduces each event to --fields", async () => {
    const tail = tailEvents(["--json", "--fields", "type,data.object.object"]);
    await tail.begun(() => provoke());
    expect(JSON.parse(tail.lines[0]!)).toEqual({ type: "customer.created", "data.object.object": "customer" });
  });

  it("prints the columns of the list in a pipe", async () => {
    const tail = tailEvents([]);
    await tail.begun(() => provoke());
    const id = tail.lines[0]!.split("\t")[0]!;
    const event = await json<Event>("events", "get", id);
    expect(tail.lines[0]).toBe([id, event.type, event.data.object["id"], event.created].join("\t"));
  });

  it.each([
    ["SIGINT", 0],
    ["SIGTERM", 143],
  ] as const)("exits on %s like service listen", async (signal, exitCode) => {
    const tail = tailEvents(["--json"]);
    await tail.begun(() => provoke());
    expect(await tail.interrupt(signal)).toBe(exitCode);
  });

  it("shows events on a terminal until Ctrl-C", async () => {
    const session = runInTerminal(["events", "tail", "--events", "order.*"], { env: cli.platform.env });
    await session.waitFor("Following order.*. Press Ctrl-C to stop.");
    const event = await json<Event>("trigger", "order.completed");
    await session.waitFor(new RegExp(`\\d\\d:\\d\\d:\\d\\d {2}order\\.completed +${event.id}`));
    session.type(CTRL_C);
    expect(await session.ended).toBe(0);
    expect(session.text()).toContain(`${event.id}  ${String(event.data.object["id"])}`);
  });

  it.each([60, 80])("fits a line into %i columns", async (columns) => {
    const session = runInTerminal(["events", "tail"], { env: cli.platform.env, columns });
    await session.waitFor("Press Ctrl-C to stop");
    const event = await json<Event>("trigger", "order.created");
    await session.waitFor(event.id);
    session.type(CTRL_C);
    expect(await session.ended).toBe(0);
    const line = session
      .text()
      .split("\n")
      .find((text) => text.includes(event.id))!;
    expect(line.slice(line.search(/\d\d:/)).length).toBeLessThanOrEqual(columns);
  });

  it("waits for an unreachable platform, and misses nothing", async () => {
    const database = `${createConfigDir()}/tail.db`;
    const port = await freePort();
    const first = await startPlatformOn(database, port);
    const tail = tailEvents(["--quiet"], first.env);
    await tail.begun(() => provoke("customer.created", first.env));
    await first.kill();
    await tail.until(() => tail.stderr().includes("Reconnecting; no items will be missed."));
    const second = await startPlatformOn(database, port);
    try {
      const { stdout } = await runCli(["trigger", "customer.created", "-q"], { env: first.env });
      await tail.until(() => tail.lines.includes(stdout.trim()));
    } finally {
      await second.stop();
    }
  });

  it.each([["ordr.*"], ["order.completd"], ["order.*,"]])("rejects --events %s", async (text) => {
    const { exitCode, stdout, stderr } = await service(["events", "tail", "--events", text]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toContain("is not an event type");
  });

  it("rejects an unknown field before the first event", async () => {
    expect(await service(["events", "tail", "--fields", "typ"])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('An event has no field "typ"'),
    });
  });

  it("exits if the key is rejected", async () => {
    const { exitCode, stderr } = await service(["events", "tail"], { env: { SERVICE_API_KEY: "sk_sandbox_wrong" } });
    expect(exitCode).toBe(4);
    expect(stderr).toContain("401");
  });
});

describe("service events replay", () => {
  const create = async (events: string): Promise<string> => {
    const { id } = await json<{ id: string }>("endpoints", "create", "--url", receiver.url, "--events", events);
    return id;
  };

  it("replays an event to all subscribers or to one endpoint", async () => {
    const event = await json<Event>("trigger", "payment.failed");
    const [one, two] = [await create("payment.*"), await create("order.*")];
    const all = await json<Replay>("events", "replay", event.id);
    expect(all).toEqual({
      object: "replay",
      event: event.id,
      deliveries: [expect.stringMatching(/^dlv_/)],
      listeners: 0,
    });
    expect(await json<Delivery>("deliveries", "get", all.deliveries[0]!)).toMatchObject({ endpoint: one });
    const { stdout, stderr } = await service(["events", "replay", event.id, "--endpoint", two, "-q"]);
    expect(stderr).toBe("");
    expect(await json<Delivery>("deliveries", "get", stdout.trim())).toMatchObject({ endpoint: two, event: event.id });
    await expect.poll(() => receiver.seen.filter((id) => id === event.id).length).toBe(2);
    await json("endpoints", "delete", one);
  });

  it("exits with 1 if no endpoint and no listener receives the event", async () => {
    const event = await json<Event>("trigger", "payment.failed");
    const reason = `No endpoint or listener received ${event.id}: there is none for its type`;
    for (const flags of [[], ["--quiet"], ["--json"]]) {
      const { exitCode, stdout, stderr } = await service(["events", "replay", event.id, ...flags]);
      expect(exitCode).toBe(1);
      expect(stderr).toContain(flags[0] === "--json" ? '"no_receiver"' : `service why ${event.id}`);
      expect(stderr).toContain(reason);
      const nobody = { object: "replay", event: event.id, deliveries: [], listeners: 0 };
      if (flags[0] === "--json") expect(JSON.parse(stdout)).toEqual(nobody);
      else expect(stdout).toBe("");
    }
    const listener = await startListener(cli.platform.env, ["--events", "payment.*"]);
    expect(await json<Replay>("events", "replay", event.id)).toMatchObject({ deliveries: [], listeners: 1 });
    await listener.record(({ event: name, id }) => name === "received" && id === event.id);
    await listener.interrupt();
    const target = `localhost:${await freePort()}`;
    const forwarding = await startListener(cli.platform.env, ["--forward-to", target, "--retries", "0"]);
    await forwarding.interrupt();
    const { stderr } = await service(["events", "replay", event.id]);
    expect(stderr).toContain(
      `Forward it to your application: service events replay ${event.id} --forward-to ${target}`,
    );
  });

  it("forwards one event to an application on this machine with --forward-to", async () => {
    const event = await json<Event>("trigger", "payment.failed");
    const args = ["events", "replay", event.id, "--forward-to"];
    const { exitCode, stdout, stderr } = await service([...args, receiver.url, "--json"]);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ deliveries: [], listeners: 1 });
    expect(stderr).toMatch(new RegExp(`${receiver.url}/? responded with 200 in `));
    expect(receiver.seen.filter((id) => id === event.id)).toHaveLength(1);
    const refused = await service([...args, `localhost:${await freePort()}`]);
    expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("connection refused") });
  });

  it("reports the replay even if the application of --forward-to does not accept the event", async () => {
    const endpoint = await json<WebhookEndpoint>("endpoints", "create", "--url", receiver.url, "--events", "payment.*");
    const event = await json<Event>("trigger", "payment.failed");
    const target = `localhost:${await freePort()}`;
    const { exitCode, stdout, stderr } = await service([
      "events",
      "replay",
      event.id,
      "--forward-to",
      target,
      "--json",
    ]);
    expect(exitCode).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ event: event.id, deliveries: [expect.stringMatching(/^dlv_/)] });
    expect(JSON.parse(stderr)).toMatchObject({ code: "forward_failed", detail: expect.stringContaining("refused") });
    await service(["endpoints", "delete", endpoint.id]);
  });

  it("rejects events that cannot be replayed", async () => {
    const event = await json<Event>("trigger", "customer.created");
    expect(await service(["events", "replay", "evt_x"])).toMatchObject({ exitCode: 3, stdout: "" });
    const args = ["events", "replay", event.id, "--endpoint", "we_4Vf8aTqz0bKm2sNw9XyRcd"];
    expect(await service(args)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("endpoint:") });
    await json("clock", "advance", "31d");
    const { exitCode, stderr } = await service(["events", "replay", event.id]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain("410 event_expired");
  });
});
