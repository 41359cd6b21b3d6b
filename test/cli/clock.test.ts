import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Delivery } from "../../src/contract/schemas/delivery.ts";
import type { TestClock } from "../../src/contract/schemas/sandbox.ts";
import { CTRL_C, runInTerminal } from "../support/terminal.ts";
import { type ScriptedReceiver, startScriptedReceiver } from "./support/scripted-receiver.ts";
import { cliOnPlatform } from "../support/cli-on-platform.ts";

const cli = cliOnPlatform();
const { json, service } = cli;

let receiver: ScriptedReceiver;
beforeAll(async () => {
  receiver = await startScriptedReceiver({ status: 500 });
});
afterAll(() => receiver.close());

describe("service clock", () => {
  it("shows the sandbox's time", async () => {
    const clock = await json<TestClock>("clock", "show");
    expect(clock).toMatchObject({ object: "test_clock", now: expect.any(String), offset_seconds: expect.any(Number) });
    const { stdout } = await service(["clock", "show", "-q"]);
    expect(Date.parse(stdout.trim())).toBeGreaterThanOrEqual(Date.parse(clock.now));
  });

  it.each([
    ["30s", 30],
    ["10m", 600],
    ["2h", 7200],
    ["3d", 259_200],
  ])("advances by %s", async (text, seconds) => {
    const before = await json<TestClock>("clock", "show");
    const after = await json<TestClock>("clock", "advance", text);
    expect(after).toMatchObject({ offset_seconds: before.offset_seconds + seconds, attempts: expect.any(Number) });
    expect(await json<TestClock>("clock", "show")).toMatchObject({ offset_seconds: after.offset_seconds });
  });

  it("counts no attempts on a terminal if nothing was due", async () => {
    const session = runInTerminal(["clock", "advance", "1s"], { env: cli.platform.env });
    expect(await session.ended).toBe(0);
    expect(session.text()).toContain("no deliveries were due");
    expect(session.text()).not.toMatch(/Attempts|Remaining/);
  });

  it.each(["5", "5x", "-3d", "0s", "10000d", "now"])("rejects an advance by %s", async (text) => {
    const { exitCode, stdout, stderr } = await service(["clock", "advance", "--", text]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toContain("See `service clock advance --help`.");
  });

  it("is available only in the sandbox", async () => {
    for (const args of [["show"], ["advance", "1h"]]) {
      expect(await service(["clock", ...args, "--live"], { env: { SERVICE_API_KEY: cli.platform.liveKey } })).toEqual({
        exitCode: 2,
        stdout: "",
        stderr: "Error: Only the sandbox has a test clock\nRemove --live.\n",
      });
    }
  });

  it("determines the ages that lists and objects show on a terminal", async () => {
    const { id } = await json<{ id: string }>("customers", "create", "--email", "aged@example.com");
    await json("clock", "advance", "2d");
    for (const args of [
      ["list", "--limit", "1"],
      ["get", id],
    ]) {
      const session = runInTerminal(["customers", ...args], { env: cli.platform.env });
      expect(await session.ended).toBe(0);
      expect(session.text()).toMatch(/2d ago|2 days ago/);
      expect(session.text()).toMatch(/^clock \+\d+d.*: the sandbox's time is ahead of real time$/m);
    }
  });

  it("does not affect the request log, whose times are real", async () => {
    await json("clock", "advance", "2d");
    const { id } = await json<{ id: string }>("customers", "create", "--email", "logged@example.com");
    const logs = await json<{ path: string }[]>("logs", "list", "--since", "5m", "--method", "POST", "--limit", "1");
    expect([id, logs[0]!.path]).toEqual([expect.stringMatching(/^cus_/), "/v1/customers"]);
    const session = runInTerminal(["logs", "list", "--limit", "1"], { env: cli.platform.env, columns: 120 });
    expect(await session.ended).toBe(0);
    expect(session.text()).toMatch(/POST.*just now|POST.*\ds ago/);
    expect(session.text()).not.toContain("ahead of real time");
  });

  it("determines ages and expiry dates", async () => {
    await json("clock", "advance", "2h");
    const { id } = await json<{ id: string }>("trigger", "customer.created");
    await json("clock", "advance", "2h");
    const { now } = await json<TestClock>("clock", "show");
    const listed = async (age: string) => {
      const events = await json<{ id: string }[]>("events", "list", "--created-after", age);
      return events.some((event) => event.id === id);
    };
    expect([await listed("1h"), await listed("3h")]).toEqual([false, true]);
    const args = ["keys", "create", "--scope", "customers:read", "--expires-in", "1h"];
    const key = await json<{ expires_at: string }>(...args);
    expect(Date.parse(key.expires_at)).toBeGreaterThanOrEqual(Date.parse(now) + 3_600_000);
  });

  it("attempts deliveries that become due during an advance, and prints the results", async () => {
    const args = ["endpoints", "create", "--url", receiver.url, "--events", "customer.created"];
    const { id } = await json<{ id: string }>(...args);
    await json("trigger", "customer.created");
    const attempted = async () => (await json<Delivery[]>("deliveries", "list", "--endpoint", id))[0]?.attempt_count;
    await expect.poll(attempted).toBe(1);
    // The first retry is due after 30 s, plus or minus 20 percent.
    const { stdout, stderr, exitCode } = await service(["clock", "advance", "40s"]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toMatch(
      /^now\t.+\noffset_seconds\t\d+\nstatus\tidle\ntarget\t.+\nattempts\t1\nsucceeded\t0\nfailed\t1\nremaining\t0\n$/,
    );

    receiver.react({ status: 500 }, { status: 200 });
    const session = runInTerminal(["clock", "advance", "6h"], { env: cli.platform.env });
    expect(await session.ended).toBe(0);
    expect(session.text()).toContain("✓ Advanced the test clock by 6 h; 2 attempts: 1 succeeded, 1 failed");
    const [delivery] = await json<Delivery[]>("deliveries", "list", "--endpoint", id);
    expect(delivery).toMatchObject({ status: "succeeded", attempt_count: 4 });
    expect(receiver.seen).toEqual(Array.from({ length: 4 }, () => delivery!.event));
  });

  it("shows the progress of an advance, and cancels it at Ctrl-C", async () => {
    let seen = 0;
    // The receiver responds to the first attempt only.
    const silent = createServer((_request, response) => {
      seen += 1;
      if (seen === 1) response.writeHead(500).end();
    });
    await new Promise<void>((resolve) => {
      silent.listen(0, "127.0.0.1", resolve);
    });
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/`;
    const { id } = await json<{ id: string }>("endpoints", "create", "--url", url, "--events", "order.created");
    await json("trigger", "order.created");
    const attempts = async () => (await json<Delivery[]>("deliveries", "list", "--endpoint", id))[0]?.attempt_count;
    await expect.poll(attempts).toBe(1);
    const session = runInTerminal(["clock", "advance", "1h"], { env: cli.platform.env });
    await session.waitFor(/0 attempts, \d+ deliver(y|ies) remaining/);
    session.type("\u0003");
    expect(await session.ended).toBe(130);
    expect(session.text()).toMatch(/Stopped the test clock at \d{4}-.+Z; no deliveries were due/);
    const stopped = await json<TestClock>("clock", "show");
    expect(stopped).toMatchObject({ status: "canceled" });
    expect(await json<TestClock>("clock", "cancel")).toMatchObject({ status: "canceled", target: stopped.target });
    expect((await service(["endpoints", "delete", id, "--yes"])).exitCode).toBe(0);
    silent.closeAllConnections();
    silent.close();
  });
});

describe("the notice that the test clock is ahead", () => {
  const NOTICE = /clock \+\d+d[^:]*: the sandbox's time is ahead of real time/;
  const inTerminal = (...args: string[]) => runInTerminal(args, { env: cli.platform.env, columns: 160 });

  it("is shown by status, listen and events tail on a terminal", async () => {
    await json("clock", "advance", "2d");
    const status = inTerminal("status");
    expect(await status.ended).toBe(0);
    expect(status.text()).toMatch(/Clock +in sync with the platform; the sandbox's test clock is \d+ days?.* ahead/);
    for (const args of [
      ["events", "tail"],
      ["listen", "--no-ui"],
    ]) {
      const session = inTerminal(...args);
      await session.waitFor(NOTICE);
      session.type(CTRL_C);
      expect(await session.ended).toBe(0);
    }
  });
});
