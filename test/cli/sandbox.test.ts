import { createServer, type ServerResponse } from "node:http";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { listen as listenOn } from "../client/support/scripted-server.ts";
import { startTail } from "./support/tail.ts";
import { cliOnPlatform } from "../support/cli-on-platform.ts";
import { startListener } from "../support/listener.ts";
import { startReceiver } from "../support/receiver.ts";
import { ENTER, runInTerminal, type TerminalSession } from "../support/terminal.ts";

const cli = cliOnPlatform();
const { json, service } = cli;

const inTerminal = (...args: string[]): TerminalSession =>
  runInTerminal(["sandbox", ...args], { env: cli.platform.env, columns: 160 });
const emails = async () => (await json<{ email: string }[]>("customers", "list")).map(({ email }) => email);

beforeEach(async () => {
  expect((await service(["sandbox", "reset", "--remove-endpoints"])).exitCode).toBe(0);
  await json("customers", "create", "--email", "ada@example.com");
});

describe("service sandbox reset", () => {
  it.each([
    ["keys", "key_0355300000000000000000"],
    ["endpoints", "we_0355300000000000000000"],
  ])("is not given as a reason for an unknown ID of %s, which it retains", async (command, id) => {
    const { exitCode, stderr } = await service([command, "get", id]);
    expect(exitCode).toBe(3);
    expect(stderr).toContain(`${id} does not exist in the sandbox\n`);
    expect(stderr).not.toMatch(/reset|events/);
  });

  it("keeps the choices of its question on one line of a narrow terminal", async () => {
    const session = runInTerminal(["sandbox", "reset", "--remove-endpoints"], { env: cli.platform.env, columns: 74 });
    await session.waitFor("(y/N)");
    session.type(ENTER);
    expect(await session.ended).toBe(1);
    expect(session.text()).toMatch(/endpoints of the\s*\n\s*sandbox\? \(y\/N\)/);
  });

  it("asks first on a terminal, and changes nothing unless confirmed", async () => {
    for (const answer of ["", "n", "no"]) {
      const session = inTerminal("reset");
      await session.waitFor("Remove all objects, events and deliveries of the sandbox? (y/N)");
      session.type(answer + ENTER);
      expect(await session.ended).toBe(1);
      expect(session.text()).toMatch(/\nNothing was changed\n/);
      expect(session.text()).not.toContain("✓");
    }
    expect(await emails()).toEqual(["ada@example.com"]);
    const session = inTerminal("reset", "--remove-endpoints");
    await session.waitFor("Remove all objects, events, deliveries and endpoints of the sandbox? (y/N)");
    session.type(`y${ENTER}`);
    expect(await session.ended).toBe(0);
    expect(session.text()).toContain("✓ All objects, events and deliveries are removed");
    expect(await emails()).toEqual([]);
  });

  it("requires --yes on a terminal with --no-input", async () => {
    const session = inTerminal("reset", "--no-input");
    expect(await session.ended).toBe(2);
    expect(session.text()).toBe("Error: --yes is required with --no-input\nSee `service sandbox reset --help`.\n");
    expect(await emails()).toEqual(["ada@example.com"]);
  });

  it("keeps endpoints unless told otherwise, and returns to real time", async () => {
    await json("endpoints", "create", "--url", "http://127.0.0.1:9/", "--events", "order.*");
    await json("clock", "advance", "2h");
    const session = inTerminal("reset", "--yes");
    expect(await session.ended).toBe(0);
    expect(await json("clock", "show")).toMatchObject({ offset_seconds: 0 });
    expect(await json<object[]>("endpoints", "list")).toHaveLength(1);
    expect(await json("sandbox", "reset", "--remove-endpoints")).toMatchObject({ object: "sandbox", snapshot: null });
    expect(await json<object[]>("endpoints", "list")).toEqual([]);
  });

  it("shows a time after the sandbox's without an age, and the last use of a key in real time", async () => {
    await json("clock", "advance", "1d");
    const { id, key } = await json<{ id: string; key: string }>("keys", "create", "--scope", "customers:read");
    expect((await service(["customers", "list"], { env: { SERVICE_API_KEY: key } })).exitCode).toBe(0);
    await expect.poll(async () => (await json<{ last_used: unknown }>("keys", "get", id)).last_used).not.toBeNull();
    await json("sandbox", "reset");
    const session = runInTerminal(["keys", "get", id], { env: cli.platform.env });
    expect(await session.ended).toBe(0);
    expect(session.text()).toMatch(/^Created +[\dT:-]+Z$/m);
    expect(session.text()).toMatch(/^Last used +[\dT:-]+Z {2}\(.+\)$/m);
  });

  it("is rejected for live mode", async () => {
    const { exitCode, stderr } = await service(["sandbox", "reset", "--live", "--yes"]);
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("never reset") });
  });

  it("does not stop service events tail, even if the test clock was ahead", async () => {
    await json("clock", "advance", "1d");
    const tail = startTail(["events", "tail", "--quiet"], cli.platform.env);
    await tail.begun(() => json("trigger", "customer.created"));
    await json("sandbox", "reset");
    const { id } = await json<{ id: string }>("trigger", "order.created");
    await tail.until(() => tail.lines.includes(id));
    expect(new Set(tail.lines).size).toBe(tail.lines.length);
  });

  it("is reported by service listen, which continues", async () => {
    const receiver = await startReceiver(() => secret);
    let secret = "";
    afterAll(() => receiver.close());
    const listener = await startListener(cli.platform.env, ["--forward-to", receiver.url]);
    ({ secret } = listener);
    await json("customers", "create", "--email", "bob@example.com");
    await listener.record(({ event }) => event === "forwarded");
    await json("sandbox", "reset");
    await listener.record(({ event }) => event === "reset");
    const { id } = await json<{ id: string }>("trigger", "order.created");
    await listener.record(({ event, id: forwarded }) => event === "forwarded" && forwarded === id);
    await expect
      .poll(async () => (await json<{ event: string }[]>("deliveries", "list")).map(({ event }) => event))
      .toEqual([id]);
    expect(await listener.interrupt()).toBe(0);
  });
});

describe("the backlog of service listen at a reset", () => {
  it("is dropped with a message, although the receiver has taken no event yet", async () => {
    const waiting: ServerResponse[] = [];
    const ids: string[] = [];
    const server = createServer((request, response) => {
      ids.push(String(request.headers["service-event-id"]));
      request.resume().on("end", () => void waiting.push(response));
    });
    const url = await listenOn(server);
    afterAll(() => server.close());
    const listener = await startListener(cli.platform.env, [
      "--forward-to",
      url,
      "--concurrency",
      "1",
      "--timeout",
      "60s",
    ]);
    for (let i = 0; i < 5; i += 1) await json("trigger", "customer.created");
    const received = () => listener.records.filter(({ event }) => event === "received");
    await expect.poll(() => [received().length, waiting.length]).toEqual([5, 1]);
    await json("sandbox", "reset");
    expect(await listener.record(({ event }) => event === "reset")).toMatchObject({ dropped: 4 });
    const { id } = await json<{ id: string }>("trigger", "order.created");
    waiting.shift()!.end();
    await expect.poll(() => waiting.length).toBe(1);
    waiting.shift()!.end();
    await listener.record(({ event, id: forwarded }) => event === "forwarded" && forwarded === id);
    expect(ids).toEqual([received()[0]!["id"], id]);
    expect(await listener.interrupt()).toBe(0);
  });
});

describe("saved states", () => {
  it("are saved, listed, restored and deleted", async () => {
    expect(await json("sandbox", "save", "one-customer")).toMatchObject({ name: "one-customer", objects: 1 });
    await json("customers", "create", "--email", "bob@example.com");
    const question = inTerminal("restore", "one-customer");
    await question.waitFor("Replace all data of the sandbox with one-customer? (y/N)");
    question.type(`y${ENTER}`);
    expect(await question.ended).toBe(0);
    expect(await emails()).toEqual(["ada@example.com"]);
    expect((await service(["sandbox", "list"])).stdout).toMatch(/^one-customer\t1\t/);
    expect(await service(["sandbox", "restore", "one-custommer"])).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining("Did you mean one-customer?"),
    });
    expect(await json("sandbox", "delete", "one-customer")).toMatchObject({ name: "one-customer" });
    expect(await json("sandbox", "list")).toEqual([]);
    expect((await service(["sandbox", "delete", "one-customer"])).exitCode).toBe(3);
  });
});
