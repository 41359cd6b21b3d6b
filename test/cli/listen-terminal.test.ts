import { createServer } from "node:http";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listen as listenOn } from "../client/support/scripted-server.ts";
import { type RunningPlatform, startPlatform } from "../support/platform.ts";
import { runCli } from "../support/run-cli.ts";
import { CTRL_C, ENTER, runInTerminal, type TerminalSession } from "../support/terminal.ts";
import { createFolder } from "./support/listening.ts";
import { type ScriptedReceiver, startScriptedReceiver } from "./support/scripted-receiver.ts";

const UP = "\u001b[A";
const DOWN = "\u001b[B";

let platform: RunningPlatform;
let receiver: ScriptedReceiver;
beforeAll(async () => {
  [platform, receiver] = await Promise.all([startPlatform(), startScriptedReceiver({ status: 200, body: "thanks" })]);
});
afterAll(async () => {
  await platform.stop();
  await receiver.close();
});

async function listen(args: readonly string[] = [], columns = 100): Promise<TerminalSession> {
  const all = ["listen", "--forward-to", receiver.url, "--retries", "0", ...args];
  const session = runInTerminal(all, { env: platform.env, columns });
  await session.waitFor(/Ready\.[^]*no events yet/);
  return session;
}

async function trigger(type: string): Promise<string> {
  return (await runCli(["trigger", type, "-q"], { env: platform.env })).stdout.trim();
}

/** What the line at the bottom shows now. */
const footer = (session: TerminalSession): string => session.text().slice(session.text().lastIndexOf("❯"));

const until = (condition: () => boolean) => expect.poll(condition).toBe(true);

describe("the keys of service listen", () => {
  it("resend the last or a selected event, and show its details", async () => {
    const session = await listen();
    const first = await trigger("customer.created");
    await session.waitFor(new RegExp(`← 200 .*${first}`));
    const second = await trigger("customer.deleted");
    await session.waitFor(new RegExp(`← 200 .*${second}`));
    session.type("r");
    await session.waitFor(new RegExp(`← 200 .*${second}\\n.*resent manually`));
    await until(() => footer(session).includes("customer.deleted"));
    const { count } = placeIn(footer(session));
    for (let i = 1; i < count; i += 1) session.type(UP);
    await until(() => placeIn(footer(session)).number === 1);
    session.type(ENTER);
    await session.waitFor("Service-Signature: t=");
    await session.waitFor(`"id": "${first}"`);
    await session.waitFor(/Response 200 in .*\s+thanks/);
    session.type(DOWN);
    await until(() => placeIn(footer(session)).number === 2);
    session.type("q");
    expect(await session.ended).toBe(0);
    expect(session.text()).toContain("Summary");
  });

  it("keep warnings on a line of their own", async () => {
    const file = join(createFolder(), ".env");
    writeFileSync(file, "");
    chmodSync(file, 0o644);
    const session = await listen(["--write-env", file], 300);
    await session.waitFor(/^Warning: .* contains the signing secret and is readable by other users\./m);
    session.type("q");
    await session.ended;
  });

  it("restore the terminal immediately, even with a forward in flight", async () => {
    const url = await listenOn(createServer(() => {}));
    const session = runInTerminal(["listen", "--forward-to", url], { env: platform.env });
    await session.waitFor(/Ready\.[^]*no events yet/);
    const id = await trigger("customer.created");
    await session.waitFor(new RegExp(`→ .*${id}`));
    session.type(CTRL_C);
    // Only a terminal that is not raw any more shows what is typed.
    await until(() => {
      session.type("x");
      return session.text().includes("xxx");
    });
    session.type(CTRL_C);
    await session.ended;
  });

  it("show the reason of a failure last", async () => {
    const session = runInTerminal(["listen", "--write-env", "/"], { env: platform.env });
    expect(await session.ended).toBe(1);
    expect(session.text()).toMatch(/Summary .*\n[^]*Error: --write-env: /);
  });

  it("pause and resume", async () => {
    const session = await listen();
    session.type("p");
    await session.waitFor("paused");
    const id = await trigger("payment.created");
    await session.waitFor(new RegExp(`→ .*${id}`));
    expect(session.text()).not.toMatch(new RegExp(`← .*${id}`));
    session.type("p");
    await session.waitFor(new RegExp(`← 200 .*${id}`));
    session.type("c");
    await until(() => footer(session).includes("no events yet"));
    session.type(CTRL_C);
    expect(await session.ended).toBe(0);
  });

  it("are disabled with --json and for a command, which has the terminal to itself", async () => {
    const json = runInTerminal(["listen", "--json"], { env: platform.env });
    await json.waitFor('"event":"ready"');
    expect(json.text()).not.toContain("❯");
    json.type(CTRL_C);
    expect(await json.ended).toBe(0);
    const script = 'process.stdin.once("data", (d) => { console.log("typed", String(d).trim()); process.exit(4); })';
    const child = runInTerminal(["listen", "--", process.execPath, "-e", script], { env: platform.env });
    await child.waitFor("Ready.");
    child.type(`r${ENTER}`);
    await child.waitFor("typed r");
    expect(await child.ended).toBe(4);
  });

  it("pass Ctrl-C to a command once, and exit with its code", async () => {
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

describe("lines of service listen", () => {
  it.each([60, 80, 100, 200])("fit %i columns", async (columns) => {
    const session = await listen(["--chaos", "badsig=1,stale=1,duplicate=1"], columns);
    await trigger("webhook_endpoint.ping");
    await session.waitFor("sent twice");
    session.type("q");
    await session.ended;
    const lines = session.text().split(/[\n\r]/);
    expect(lines.filter((line) => line.length > columns)).toEqual([]);
    expect(session.text()).toMatch(/must\s+be\s+rejected/);
  });
});

function placeIn(text: string): { number: number; count: number } {
  const [, number, count] = /(\d+)\/(\d+)/.exec(text) ?? [];
  return { number: Number(number), count: Number(count) };
}
