import { execFileSync } from "node:child_process";
import { createServer } from "node:http";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { listen as listenOn } from "../client/support/scripted-server.ts";
import { cliOnPlatform } from "../support/cli-on-platform.ts";
import { freePort } from "../support/free-port.ts";
import { startPlatformOn } from "../support/platform.ts";
import { BIN } from "../support/run-cli.ts";
import { openScreen, type Screen } from "../support/screen.ts";
import { CTRL_C } from "../support/terminal.ts";
import { listenOnScreen } from "./support/listen-screen.ts";
import { createFolder } from "./support/listening.ts";
import { type ScriptedReceiver, startScriptedReceiver } from "./support/scripted-receiver.ts";

const cli = cliOnPlatform();
let receiver: ScriptedReceiver;
beforeAll(async () => {
  receiver = await startScriptedReceiver({ status: 200, body: "thanks" });
});
afterAll(() => receiver.close());

const until = (condition: () => boolean) => expect.poll(condition).toBe(true);

async function trigger(type: string): Promise<string> {
  const { stdout, exitCode } = await cli.service(["trigger", type, "-q"]);
  expect(exitCode).toBe(0);
  return stdout.trim();
}

/** Runs `service listen` below a shell, which then prints the exit code and the state of the terminal. */
async function listenBelowShell(env: Record<string, string> = {}): Promise<{ screen: Screen; pid: number }> {
  // The shell waits for a line: what is written right before a terminal closes can be lost.
  const line = `"$0" "$@"; echo "exit code $?"; stty -a; read end`;
  const args = ["-c", line, process.execPath, BIN, "listen", "--forward-to", receiver.url];
  const screen = openScreen("sh", args, { env: { ...cli.platform.env, ...env }, rows: 40 });
  await screen.shows("● Connected");
  expect(screen.isAlternate()).toBe(true);
  expect(screen.isCursorHidden()).toBe(true);
  return { screen, pid: Number(execFileSync("pgrep", ["-P", String(screen.pid)], { encoding: "utf8" })) };
}

async function expectRestored(screen: Screen, exitCode: number): Promise<void> {
  await screen.shows(`exit code ${exitCode}`);
  await screen.shows(/ icanon [^]* echo /);
  expect(screen.isAlternate()).toBe(false);
  expect(screen.isCursorHidden()).toBe(false);
  expect(screen.output().lastIndexOf("\u001b[?2004l")).toBeGreaterThan(screen.output().lastIndexOf("\u001b[?2004h"));
  expect(screen.output().lastIndexOf("\u001b[?7h")).toBeGreaterThan(screen.output().lastIndexOf("\u001b[?7l"));
}

describe("service listen restores the terminal", () => {
  it.each([
    ["q", "q"],
    ["Ctrl-C", CTRL_C],
  ])("on %s, above its summary", async (_name, key) => {
    const { screen } = await listenBelowShell();
    screen.type(key);
    await expectRestored(screen, 0);
    expect(screen.text()).toContain("Summary  0 received");
    expect(screen.text()).not.toMatch(/Ready|whsec_/);
  });

  it.each([
    ["q", "q"],
    ["Ctrl-C", CTRL_C],
  ])("on %s on platforms such as Windows, where a signal kills the process at once", async (_name, key) => {
    const preload = join(mkdtempSync(join(tmpdir(), "service-windows-")), "kill.cjs");
    writeFileSync(
      preload,
      `const { kill } = process; process.kill = (pid, ...rest) => pid === process.pid ? process.reallyExit(1) : kill(pid, ...rest);`,
    );
    const { screen } = await listenBelowShell({ NODE_OPTIONS: `--require ${preload}` });
    screen.type(key);
    await expectRestored(screen, 0);
    expect(screen.text()).toMatch(/Summary {2}0 received/);
  });

  it.each([
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)("on %s", async (signal, exitCode) => {
    const { screen, pid } = await listenBelowShell();
    process.kill(pid, signal);
    await expectRestored(screen, exitCode);
  });

  it("names its commands as they are typed", async () => {
    const env = { ...cli.platform.env, npm_command: "exec" };
    const screen = await listenOnScreen(["--forward-to", receiver.url], { rows: 50, env });
    await screen.shows("npx service-cli trigger order.completed");
    screen.type("?");
    await screen.shows("npx service-cli trigger --fixture");
    await screen.shows("npx service-cli events list");
  });

  it("on a crash, above the stack trace", async () => {
    const crash = join(mkdtempSync(join(tmpdir(), "service-crash-")), "crash.cjs");
    writeFileSync(crash, `process.on("SIGUSR2", () => { throw new Error("crashed on request"); });`);
    const { screen, pid } = await listenBelowShell({ NODE_OPTIONS: `--require ${crash}` });
    process.kill(pid, "SIGUSR2");
    await expectRestored(screen, 1);
    expect(screen.text()).toContain("Error: crashed on request");
  });

  it("immediately, even with a forward in flight", async () => {
    const url = await listenOn(createServer(() => {}));
    const screen = await listenOnScreen(["--forward-to", url], { env: cli.platform.env });
    await trigger("customer.created");
    await screen.shows("1 waiting");
    screen.type(CTRL_C);
    await until(() => !screen.isAlternate());
    screen.type(CTRL_C);
    await screen.ended;
  });

  it("on Ctrl-Z, and returns to its screen on fg", async () => {
    const env = { ...cli.platform.env, PS1: "prompt> " };
    const screen = openScreen("bash", ["--norc", "-i"], { env, rows: 30 });
    await screen.shows("prompt>");
    screen.type(`"${process.execPath}" "${BIN}" listen --forward-to ${receiver.url}\r`);
    await screen.shows("● Connected");
    screen.type("\u001a");
    await screen.shows(/Stopped/);
    expect(screen.isAlternate()).toBe(false);
    screen.type("stty -a\r");
    await screen.shows(/ icanon [^]* echo /);
    const id = await trigger("customer.created");
    screen.type("fg\r");
    await screen.shows("● Connected");
    await screen.shows(id);
    expect(screen.isAlternate()).toBe(true);
    screen.type("q");
    await screen.shows("Summary");
    screen.type("exit\r");
    await screen.ended;
  });
});

describe("the screen of service listen", () => {
  it("fits 80×24, 120×40 and 200×60, and shrinks to a message", async () => {
    const screen = await listenOnScreen(["--forward-to", receiver.url], { env: cli.platform.env });
    const id = await trigger("customer.created");
    await screen.shows("1 forwarded");
    for (const [columns, rows] of [
      [80, 24],
      [200, 60],
      [120, 40],
      [40, 10],
    ] as const) {
      screen.resize(columns, rows);
      await screen.shows(/❯ \d[^]*\n \S[^\n]*\? help {2}q quit$/);
      expect(screen.lines()).toHaveLength(rows);
      expect(screen.lines()[0]).toMatch(/^ ● Connected {2}(sandbox|→ 127)/);
      expect(screen.text().includes(id)).toBe(columns >= 80);
      expect(screen.text().includes("thanks")).toBe(columns >= 120);
    }
    screen.resize(30, 5);
    await screen.shows(/^Needs 40×10, has 30×5\n1 received, 0 failed\nq quit/);
    screen.resize(80, 24);
    await screen.shows(id);
  });

  it("keeps columns aligned next to wide characters, and shows control characters as text", async () => {
    const body = "失敗しました 😀👩‍💻 cafe\u0301 \u001b[2J\u0007\u009b31mred \u202e";
    const wide = await startScriptedReceiver({ status: 500, body });
    onTestFinished(() => wide.close());
    const args = ["--forward-to", wide.url, "--retries", "0", "--events", "customer.created"];
    const screen = await listenOnScreen(args, { env: cli.platform.env, columns: 160, rows: 40 });
    await cli.service(["customers", "create", "--email", "wide@example.com", "--name", "山田 太郎 😀 \u202egnorw"]);
    await screen.shows("1 failed");
    await screen.shows(String.raw`\u001b[2J\u0007\u009b31mred \u202e`);
    expect(screen.text()).toContain("失敗しました 😀");
    screen.type("\r");
    await screen.shows(/"name": "山田 太郎 😀 \\u202egnorw"/);
    const borders = screen.lines().flatMap((line, row) => (line.includes("│") ? [screen.columnOf(row, "│")] : []));
    expect(borders.length).toBeGreaterThan(30);
    expect(new Set(borders).size).toBe(1);
    expect(screen.output()).not.toContain("\u0007\u009b");
    expect(screen.output()).not.toContain("\u202e");
  });

  it("counts down to the next attempt while the platform restarts, and shows how many events were caught up", async () => {
    const database = join(createFolder(), "platform.db");
    const port = await freePort();
    const first = await startPlatformOn(database, port);
    const screen = await listenOnScreen(["--forward-to", receiver.url], { env: first.env });
    await first.stop();
    await screen.shows(/○ Reconnecting {2}(attempt \d+ in \d s|connecting): /);
    await screen.shows(/attempt [2-9] in \d s: nothing listens on 127\.0\.0\.1:\d+ *\n/);
    await screen.shows(/Missed events\s+follow after reconnecting\./);
    expect(screen.lines().filter((line) => line.includes("○ Reconnecting"))).toHaveLength(1);
    const second = await startPlatformOn(database, port);
    onTestFinished(async () => void (await second.stop()));
    await screen.shows("● Connected");
    await screen.shows(/Reconnected after [\d.]+ (s|ms); no new events/);
  });
});
