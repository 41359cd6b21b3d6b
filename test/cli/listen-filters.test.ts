import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it, onTestFinished } from "vitest";
import { cliOnPlatform } from "../support/cli-on-platform.ts";
import { startListener } from "../support/listener.ts";
import { spawnCli } from "../support/run-cli.ts";
import { CTRL_C, runInTerminal } from "../support/terminal.ts";
import { type Reaction, type ScriptedReceiver, startScriptedReceiver } from "./support/scripted-receiver.ts";

const cli = cliOnPlatform();
const { json, service } = cli;

const receivers: ScriptedReceiver[] = [];
afterEach(async () => {
  await Promise.all(receivers.splice(0).map((receiver) => receiver.close()));
});

async function receiverThat(...reactions: Reaction[]): Promise<string> {
  const receiver = await startScriptedReceiver(...reactions);
  receivers.push(receiver);
  return receiver.url;
}

const order = (amount: number) => json<{ id: string }>("trigger", "order.created", "--override", `amount=${amount}`);

describe("service listen --where", () => {
  it("forwards and counts only events with the given values", async () => {
    const url = await receiverThat({ status: 200 });
    const conditions = ["--where", "data.object.amount=500", "--where", "livemode!=true"];
    const listener = await startListener(cli.platform.env, ["--forward-to", url, ...conditions]);
    await order(400);
    const wanted = await order(500);
    await listener.record(({ event }) => event === "forwarded");
    expect(await listener.interrupt()).toBe(0);
    const received = listener.records.filter(({ event }) => event === "received");
    expect(received.map(({ id }) => id)).toEqual([wanted.id]);
    expect(listener.records.at(-1)).toMatchObject({ event: "summary", received: 1, filtered_out: 1, forwarded: 1 });
    expect(receivers[0]!.seen).toEqual([wanted.id]);
  });

  it("rejects an invalid condition", async () => {
    const { exitCode, stderr } = await service(["listen", "--where", "amount"]);
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("must be a path") });
  });
});

describe("service listen --events", () => {
  it("excludes types with an exclamation mark", async () => {
    const listener = await startListener(cli.platform.env, ["--events", "order.*,!order.created"]);
    await json("trigger", "payment.created");
    const completed = await json<{ id: string }>("trigger", "order.completed");
    await listener.record(({ event, id }) => event === "received" && id === completed.id);
    await listener.interrupt();
    const received = listener.records.filter(({ event }) => event === "received");
    expect(received.map(({ type }) => type)).toEqual(["order.completed"]);
  });

  it.each([
    ["order.*,!order.*", "No event type is left"],
    ["!order.create", "Did you mean order.created"],
  ])("rejects %s", async (events, reason) => {
    const { exitCode, stderr } = await service(["listen", "--events", events]);
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(reason) });
  });
});

describe("service listen --fail-on-error", () => {
  it.each([
    [200, 0],
    [500, 1],
  ])("after a response of %i exits with %i", async (status, exitCode) => {
    const listener = await startListener(cli.platform.env, [
      "--forward-to",
      await receiverThat({ status }),
      "--retries",
      "0",
      "--fail-on-error",
    ]);
    await order(1);
    await listener.record(({ event }) => event === "forwarded");
    expect(await listener.interrupt()).toBe(exitCode);
  });

  it("makes the retries of a forward after the command has ended", async () => {
    const url = await receiverThat({ status: 500 }, { status: 200 });
    let openGate = (): void => {};
    const isHit = new Promise<void>((resolve) => (openGate = resolve));
    const gate = createServer((_request, response) => void isHit.then(() => response.end())).listen(0, "127.0.0.1");
    await once(gate, "listening");
    onTestFinished(() => void gate.close());
    const wait = `fetch("http://127.0.0.1:${(gate.address() as AddressInfo).port}", { headers: { Connection: "close" } })`;
    const args = ["--forward-to", url, "--fail-on-error", "--", process.execPath, "-e", wait];
    const listener = await startListener(cli.platform.env, args);
    await order(1);
    await listener.record(({ event, status }) => event === "forwarded" && status === 500);
    openGate();
    expect(await listener.ended).toBe(0);
    expect(listener.records.at(-1)).toMatchObject({
      event: "summary",
      received: 1,
      forwarded: 1,
      failed: 0,
      not_forwarded: 0,
    });
  });

  it("exits with the code of a failed command", async () => {
    const args = ["listen", "--fail-on-error", "--", process.execPath, "-e", "process.exit(3)"];
    expect((await spawnCli(args, { env: cli.platform.env })).exitCode).toBe(3);
  });
});

describe("service listen on a terminal", () => {
  it("shows only the title of an HTML error page", async () => {
    const page = `<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head>${"<p>noise</p>\n".repeat(600)}</html>`;
    const url = await receiverThat({ status: 502, body: page });
    const session = runInTerminal(["listen", "--no-ui", "--forward-to", url, "--retries", "0"], {
      env: cli.platform.env,
    });
    await session.waitFor("Ready.");
    await order(1);
    await session.waitFor(/HTML page of \d KB/);
    session.type(CTRL_C);
    await session.ended;
    expect(session.text()).toContain("502 Bad Gateway");
    expect(session.text()).not.toContain("noise");
  });
});
