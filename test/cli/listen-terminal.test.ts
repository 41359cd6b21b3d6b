import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { freePort } from "../support/free-port.ts";
import { startListener } from "../support/listener.ts";
import { startPlatformOn } from "../support/platform.ts";
import { kitPlatform } from "../testing/kit.ts";
import { runCli } from "../support/run-cli.ts";
import { CTRL_C, ENTER, runInTerminal, type TerminalSession } from "../support/terminal.ts";
import { createFolder } from "./support/listening.ts";
import { type ScriptedReceiver, startScriptedReceiver } from "./support/scripted-receiver.ts";

const platform = kitPlatform();
let receiver: ScriptedReceiver;
beforeAll(async () => {
  receiver = await startScriptedReceiver({ status: 200, body: "thanks" });
});
afterAll(() => receiver.close());

/** Takes the terminal, without the list. */
async function listen(args: readonly string[] = [], columns = 100): Promise<TerminalSession> {
  const all = ["listen", "--no-ui", "--forward-to", receiver.url, "--retries", "0", ...args];
  const session = runInTerminal(all, { env: platform.env, columns });
  await session.waitFor("Press Ctrl-C to stop");
  return session;
}

async function trigger(type: string): Promise<string> {
  return (await runCli(["trigger", type, "-q"], { env: platform.env })).stdout.trim();
}

const CONTROL_OF_SCREEN = /\u001b\[(?:\?|\d*(?:;\d*)?H|2J)/;

describe("service listen --no-ui on a terminal", () => {
  it("prints plain lines, and exits 0 on Ctrl-C", async () => {
    const session = await listen();
    const id = await trigger("customer.created");
    await session.waitFor(new RegExp(`→ .*${id}`));
    await session.waitFor(new RegExp(`← 200 .*${id}`));
    session.type(CTRL_C);
    expect(await session.ended).toBe(0);
    expect(session.text()).toMatch(/Summary {2}1 received, 1 forwarded/);
    expect(session.output()).not.toMatch(CONTROL_OF_SCREEN);
  });

  it("prints a lost connection once, not for each attempt", async () => {
    const database = join(createFolder(), "platform.db");
    const port = await freePort();
    const first = await startPlatformOn(database, port);
    const session = runInTerminal(["listen", "--no-ui"], { env: first.env });
    await session.waitFor("Press Ctrl-C to stop");
    const other = await startListener(first.env, []);
    await first.stop();
    await other.record(({ event, failures }) => event === "retrying" && Number(failures) >= 4);
    await session.waitFor(/! lost .*nothing listens on/);
    const second = await startPlatformOn(database, port);
    onTestFinished(async () => void (await second.stop()));
    await session.waitFor("✓ back");
    expect(session.text()).toContain("! lost  the platform is stopping; reconnecting");
    expect(session.text().match(/! lost .*nothing listens on/g)).toHaveLength(1);
    session.type(CTRL_C);
    await Promise.all([session.ended, other.interrupt()]);
  });

  it("keeps warnings on a line of their own", async () => {
    const file = join(createFolder(), ".env");
    writeFileSync(file, "");
    chmodSync(file, 0o644);
    const session = await listen(["--write-env", file], 300);
    await session.waitFor(/^Warning: .* contains the signing secret and is readable by other users\./m);
    session.type(CTRL_C);
    await session.ended;
  });

  it.each([60, 80, 100, 200])("prints lines that fit %i columns", async (columns) => {
    const session = await listen(["--chaos", "badsig=1,stale=1,duplicate=1"], columns);
    await trigger("webhook_endpoint.ping");
    await session.waitFor("sent twice");
    session.type(CTRL_C);
    await session.ended;
    const lines = session.text().split(/[\n\r]/);
    expect(lines.filter((line) => line.length > columns)).toEqual([]);
    expect(session.text()).toMatch(/must\s+be\s+rejected/);
  });
});

describe("service listen with --json or a command", () => {
  it("prints lines instead of the screen, and leaves keys to the command", async () => {
    const json = runInTerminal(["listen", "--json"], { env: platform.env });
    await json.waitFor('"event":"ready"');
    json.type(CTRL_C);
    expect(await json.ended).toBe(0);
    expect(json.output()).not.toMatch(CONTROL_OF_SCREEN);
    const script = 'process.stdin.once("data", (d) => { console.log("typed", String(d).trim()); process.exit(4); })';
    const child = runInTerminal(["listen", "--", process.execPath, "-e", script], { env: platform.env });
    await child.waitFor("Ready.");
    child.type(`r${ENTER}`);
    await child.waitFor("typed r");
    expect(await child.ended).toBe(4);
    expect(child.output()).not.toMatch(CONTROL_OF_SCREEN);
  });

  it("passes Ctrl-C to a command once, and exits with its code", async () => {
    const script = `
      let count = 0;
      process.on("SIGINT", () => { count += 1; setTimeout(() => { console.log("interrupts", count); process.exit(5); }, 300); });
      console.log("runs"); setInterval(() => {}, 1000);`;
    const session = runInTerminal(["listen", "--", process.execPath, "-e", script], { env: platform.env });
    await session.waitFor("runs");
    session.type(CTRL_C);
    await session.waitFor("interrupts 1");
    expect(await session.ended).toBe(5);
  });
});
