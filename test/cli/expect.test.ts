import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ExpectationReport } from "../../src/cli/commands/expect/run.ts";
import { cliOnPlatform } from "../support/cli-on-platform.ts";
import { BIN, type CliResult } from "../support/run-cli.ts";
import { freePort } from "../support/free-port.ts";
import { startListener } from "../support/listener.ts";
import { type Reaction, type ScriptedReceiver, startScriptedReceiver } from "./support/scripted-receiver.ts";

const cli = cliOnPlatform();
const { json, service } = cli;

/** A command that triggers events. */
const triggering = (...args: string[]) => ["--", process.execPath, BIN, "trigger", ...args];
const create = triggering("order.created", "--override", "amount=500");
/** Keeps tests of failures short. */
const SHORT = ["--within", "1s"];

let folder: string;
const cleanups: (() => Promise<unknown>)[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "service-expect-"));
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs in a process, because the child command writes to the same terminal. */
const assertThat = (...args: string[]) => service(["expect", ...args], { cwd: folder });

async function newEndpoint(...reactions: Reaction[]): Promise<ScriptedReceiver> {
  const receiver = await startScriptedReceiver(...reactions);
  const { id } = await json<{ id: string }>("endpoints", "create", "--url", receiver.url, "--events", "order.*");
  cleanups.push(
    () => service(["endpoints", "delete", id]),
    () => receiver.close(),
  );
  return receiver;
}

const reportOf = ({ stdout }: CliResult) => JSON.parse(stdout) as ExpectationReport;

describe("service expect", () => {
  it("succeeds if an event happens while the command runs, and prints it", async () => {
    const result = await assertThat("order.created", "--json", ...create);
    expect(result.exitCode).toBe(0);
    expect(reportOf(result)).toMatchObject({
      object: "expectation",
      status: "met",
      code: null,
      events: [{ type: "order.created", data: { object: { amount: 500 } } }],
    });
  });

  it("ignores events from before it started", async () => {
    await json("trigger", "order.created");
    const result = await assertThat("order.created", ...SHORT, "--json");
    expect(result.exitCode).toBe(1);
    expect(reportOf(result)).toMatchObject({ status: "failed", code: "event_not_seen", events: [], nearest: null });
    expect(JSON.parse(result.stderr)).toMatchObject({ code: "event_not_seen" });
  });

  it("shows the closest event and the difference if a condition is not met", async () => {
    const { exitCode, stderr } = await assertThat(
      "order.created",
      ...SHORT,
      "--where",
      "data.object.amount=700",
      "--where",
      "data.object.currency!=EUR",
      "--where",
      "livemode=false",
      ...create,
    );
    expect(exitCode).toBe(1);
    expect(stderr).toContain("No matching order.created within 1 s");
    expect(stderr).toMatch(
      /Closest event: evt_\w+\n {2}data.object.amount=700\n {4}expected {2}700\n {4}actual {4}500\n/,
    );
    expect(stderr).toMatch(/expected {2}not EUR\n {4}actual {4}EUR\n/);
    expect(stderr).not.toContain("livemode");
    expect(stderr).toMatch(/For details: service why evt_/);
  });

  it("lists the events of other types that were received instead", async () => {
    const { exitCode, stderr } = await assertThat("payment.failed", ...SHORT, ...create);
    expect(exitCode).toBe(1);
    expect(stderr).toContain("Other events received: 1 × order.created");
    expect(stderr).toContain("To list them: service events list --type payment.failed --since 1h");
  });

  it("accepts a jq expression as a condition", async () => {
    expect((await assertThat("order.created", "--jq", ".data.object.amount > 499", ...create)).exitCode).toBe(0);
    const failed = await assertThat("order.created", ...SHORT, "--jq", ".data.object.amount", "--json", ...create);
    expect(reportOf(failed).nearest?.differences).toEqual([
      { condition: ".data.object.amount", expected: "true", actual: "500" },
    ]);
    expect(await assertThat("order.created", "--jq", ".[")).toMatchObject({ exitCode: 2 });
  });

  it("expects exactly --count events", async () => {
    const two = triggering("order.created", "--count", "2");
    expect((await assertThat("order.created", ...SHORT, "--count", "2", ...two)).exitCode).toBe(0);
    const many = await assertThat("order.created", "--within", "1h", "--count", "1", "--json", ...two);
    expect([many.exitCode, reportOf(many).code]).toEqual([1, "too_many_events"]);
    const few = await assertThat("order.created", ...SHORT, "--count", "3", "--json", ...two);
    expect([few.exitCode, reportOf(few).code]).toEqual([1, "too_few_events"]);
    expect((await assertThat("payment.failed", ...SHORT, "--count", "0", ...create)).exitCode).toBe(0);
  });

  it("waits for deliveries, and fails as soon as one has failed", async () => {
    await newEndpoint({ status: 200 });
    const good = await assertThat("order.created", "--within", "1m", "--delivered", "--json", ...create);
    expect(good.exitCode).toBe(0);
    expect(reportOf(good).deliveries).toMatchObject([{ status: "succeeded" }]);
    await newEndpoint({ status: 410 });
    const bad = await assertThat("order.created", "--within", "1h", "--delivered", ...create);
    expect(bad.exitCode).toBe(1);
    expect(bad.stderr).toContain("A delivery of order.created failed");
    expect(bad.stderr).toMatch(/For details: service why dlv_/);
  });

  it("waits for each connected listener, whichever responds first", async () => {
    const receivers = [await startScriptedReceiver({ status: 204 }), await startScriptedReceiver({ status: 500 })];
    const flags = ["--retries", "1", "--forward-to"];
    for (const receiver of receivers) {
      const listener = await startListener(cli.platform.env, [...flags, receiver.url]);
      cleanups.push(
        () => listener.interrupt(),
        () => receiver.close(),
      );
    }
    const result = await assertThat("order.created", "--within", "1m", "--delivered", "--json", ...create);
    expect(reportOf(result)).toMatchObject({ code: "delivery_failed", deliveries: [{}, {}] });
  });

  it("distinguishes an event without a receiver from a pending one", async () => {
    const nobody = await assertThat("order.created", ...SHORT, "--delivered", ...create);
    expect(nobody).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("no endpoint or listener received it"),
    });
    await newEndpoint({ status: 500 });
    const pending = await assertThat("order.created", ...SHORT, "--delivered", "--json", ...create);
    expect(reportOf(pending)).toMatchObject({ code: "not_delivered", deliveries: [{ status: "pending" }] });
  });

  it("exits with the code of a failed command, without waiting, and says so", async () => {
    const result = await assertThat("order.created", "--within", "1h", "--", "sh", "-c", "exit 42");
    expect(result).toMatchObject({ exitCode: 42, stdout: "" });
    expect(result.stderr).toBe("Error: The command exited with 42: sh -c 'exit 42'\n");
    const missing = await assertThat("order.created", "--within", "1h", "--", "no-such-command");
    expect(missing).toMatchObject({ exitCode: 127, stderr: "Error: Command not found: no-such-command\n" });
  });

  it("reports a failed command in JSON and JUnit, whether the event was seen or not", async () => {
    const message = "The command exited with 3: sh -c 'exit 3'";
    const failing = ["--junit", "failed.xml", "--json", "--", "sh", "-c", "exit 3"];
    const unseen = await assertThat("order.created", "--within", "1h", ...failing);
    expect(reportOf(unseen)).toMatchObject({ status: "failed", code: "command_failed", message, exit_code: 3 });
    expect(JSON.parse(unseen.stderr)).toEqual({
      type: "about:blank",
      title: "Command failed",
      detail: message,
      code: "command_failed",
      exit_code: 3,
    });
    expect(readFileSync(join(folder, "failed.xml"), "utf8")).toContain(
      `<failure type="command_failed" message="${message}">`,
    );
    const trigger = `"${process.execPath}" "${BIN}" trigger order.created && exit 3`;
    const seen = await assertThat("order.created", "--within", "1h", "--json", "--", "sh", "-c", trigger);
    expect(seen.exitCode).toBe(3);
    expect(reportOf(seen)).toMatchObject({
      status: "failed",
      code: "command_failed",
      events: [{ type: "order.created" }],
    });
    const met = await assertThat("order.created", "--json", ...create);
    expect(reportOf(met)).toMatchObject({ status: "met", exit_code: 0 });
  });

  it("writes a JUnit report of success and failure", async () => {
    await assertThat("order.created", "--junit", "good.xml", ...create);
    const good = readFileSync(join(folder, "good.xml"), "utf8");
    expect(good).toContain('tests="1" failures="0"');
    await assertThat("order.created", ...SHORT, "--where", "data.object.amount=1", "--junit", "bad.xml", ...create);
    const bad = readFileSync(join(folder, "bad.xml"), "utf8");
    expect(bad).toContain('name="order.created data.object.amount=1"');
    expect(bad).toContain('<failure type="event_not_seen" message="No matching order.created within 1 s">');
  });

  it("exits with 7 before it starts the command if the platform cannot be reached", async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const result = await assertThat("order.created", "--base-url", url, "--", "sh", "-c", "echo started");
    expect({ exitCode: result.exitCode, stdout: result.stdout }).toEqual({ exitCode: 7, stdout: "" });
  });

  it.each([
    [["order.complete"], "Did you mean order.completed"],
    [["order.created", "--where", "amount"], "must be a path and a value"],
    [["order.created", "--within", "0s"], "must be at least 1 s"],
  ])("rejects %j", async (args, reason) => {
    expect(await assertThat(...args)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(reason) });
  });
});
