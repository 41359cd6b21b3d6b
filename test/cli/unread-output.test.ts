import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { afterEach, expect, it } from "vitest";
import { apiOf } from "../support/api.ts";
import { withCredentials } from "../support/platform.ts";
import { startPlatform } from "../testing/kit.ts";
import { startReceiver } from "../support/receiver.ts";
import { BIN, cliEnv, runCli } from "../support/run-cli.ts";

type Program = ChildProcessByStdio<null, Readable, null>;

/** The path makes log lines long enough that these fill the pipe and the program's own buffer. */
const LONG_PATH = `/v1/orders/ord_${"x".repeat(7000)}`;
const CALLS = 180;

const programs: Program[] = [];
afterEach(() => {
  for (const program of programs.splice(0)) program.kill("SIGKILL");
});

/** Starts a program, reads its first line, and leaves the rest unread. */
async function startUnread(args: readonly string[], env: Record<string, string> = {}) {
  const program = spawn(process.execPath, [BIN, ...args], { env: cliEnv(env), stdio: ["ignore", "pipe", "ignore"] });
  programs.push(program);
  let first = "";
  for await (const chunk of program.stdout.iterator({ destroyOnReturn: false })) {
    first += String(chunk);
    if (first.includes("\n")) break;
  }
  program.stdout.pause();
  return { program, ready: withCredentials(JSON.parse(first.slice(0, first.indexOf("\n"))) as Record<string, string>) };
}

async function readRest(program: Program): Promise<Record<string, unknown>[]> {
  let text = "";
  program.stdout.on("data", (chunk) => (text += String(chunk)));
  program.kill("SIGTERM");
  await once(program, "close");
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

it("serve keeps running if its output is not read, and reports how many lines are missing", async () => {
  const { program, ready } = await startUnread(["serve", "--ephemeral", "--port", "0", "--json", "--rate-limit", "0"]);
  const api = apiOf(ready["base_url"]!, ready["sandbox_key"]);
  for (let created = 0; created < CALLS; created++) expect((await api("GET", LONG_PATH)).status).toBe(404);
  const lines = await readRest(program);
  expect(program.exitCode).toBe(0);
  // One notice, or more where lines are written while the rest is read.
  const missing = lines
    .filter(({ event }) => event === "left_out")
    .reduce((sum, { lines: count }) => sum + Number(count), 0);
  expect(missing).toBeGreaterThan(0);
  expect(lines.filter(({ event }) => event === "request").length + missing).toBeGreaterThanOrEqual(CALLS);
});

it("serve exits quickly although its output is never read", async () => {
  const { program, ready } = await startUnread(["serve", "--ephemeral", "--port", "0", "--json", "--rate-limit", "0"]);
  const api = apiOf(ready["base_url"]!, ready["sandbox_key"]);
  for (let created = 0; created < CALLS; created++) await api("GET", LONG_PATH);
  program.kill("SIGTERM");
  const [code] = await once(program, "exit");
  expect(code).toBe(0);
});

it("serve closes its database and exits once its output can no longer be read", async () => {
  const database = join(mkdtempSync(join(tmpdir(), "service-closed-")), "platform.db");
  const flags = ["serve", "--database", database, "--port", "0", "--json"];
  const { program, ready } = await startUnread(flags);
  const ended = once(program, "exit");
  program.stdout.destroy();
  await apiOf(ready["base_url"]!, ready["sandbox_key"])("GET", "/v1/orders");
  expect(await ended).toEqual([0, null]);
  // The write-ahead log is gone, so all data is in the database file.
  expect(existsSync(`${database}-wal`)).toBe(false);
});

it("listen keeps forwarding if its output is not read", async () => {
  const platform = await startPlatform();
  const secret = (await runCli(["listen", "--print-secret"], { env: platform.env })).stdout.trim();
  const receiver = await startReceiver(() => secret);
  const { program } = await startUnread(["listen", "--json", "--forward-to", receiver.url], platform.env);
  const created = await runCli(["trigger", "customer.created", "--count", "600", "-q"], { env: platform.env });
  const ids = created.stdout.trim().split("\n");
  expect(ids).toHaveLength(600);
  await receiver.until(() => ids.every((id) => receiver.ids().has(id)));
  program.kill("SIGTERM");
  await once(program, "exit");
  await receiver.close();
  await platform.close();
});
