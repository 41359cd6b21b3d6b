import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { freePort } from "../../support/free-port.ts";
import { BIN, cliEnv, type CliResult, spawnCli } from "../../support/run-cli.ts";

/** A folder with a `service.yaml`, on ports that nothing uses. */
export interface DevProject {
  folder: string;
  port: number;
  /** Where the app listens. */
  appPort: number;
  env: Record<string, string>;
  write(name: string, text: string): void;
  read(name: string): string;
  /** Runs another command in the folder. */
  service(args: readonly string[], env?: Record<string, string>): Promise<CliResult>;
}

/** `PORT` and `APP_PORT` in the files become the ports of the project. */
export async function makeProject(files: Readonly<Record<string, string>>): Promise<DevProject> {
  const folder = mkdtempSync(join(tmpdir(), "service-dev-"));
  const [port, appPort] = [await freePort(), await freePort()];
  const env = cliEnv();
  const write = (name: string, text: string): void => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text.replaceAll("APP_PORT", String(appPort)).replaceAll("PORT", String(port)));
  };
  for (const [name, text] of Object.entries(files)) write(name, text);
  return {
    folder,
    port,
    appPort,
    env,
    write,
    read: (name) => readFileSync(join(folder, name), "utf8"),
    service: (args, more) => spawnCli(args, { cwd: folder, env: { ...env, ...more } }),
  };
}

/** `service dev` as a process. */
export interface DevProcess {
  child: ChildProcess;
  /** What it has printed, both streams. */
  output(): string;
  /** Resolves once the output matches. */
  waitFor(pattern: RegExp | string): Promise<void>;
  /** The exit code, or the signal that ended it. */
  ended: Promise<number | NodeJS.Signals>;
}

export function startDev(
  project: DevProject,
  args: readonly string[] = [],
  more: Record<string, string> = {},
): DevProcess {
  return startCommand(project, ["dev", ...args], more);
}

/** Starts a command that runs until it is stopped, in the folder of a project. */
export function startCommand(
  { folder, env }: Pick<DevProject, "folder" | "env">,
  args: readonly string[],
  more: Record<string, string> = {},
): DevProcess {
  const child = spawn(process.execPath, [BIN, ...args], {
    cwd: folder,
    env: { ...env, ...more },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  let hasEnded = false;
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  }
  const ended = new Promise<number | NodeJS.Signals>((resolve) => {
    child.once("close", (code, signal) => {
      hasEnded = true;
      resolve(code ?? signal!);
    });
  });
  onTestFinished(async () => {
    if (!hasEnded) child.kill("SIGTERM");
    await ended;
  });
  return {
    child,
    output: () => output,
    ended,
    waitFor: async (pattern) => {
      const isThere = (): boolean => (typeof pattern === "string" ? output.includes(pattern) : pattern.test(output));
      await expect.poll(() => isThere() || hasEnded, { timeout: 60_000 }).toBe(true);
      if (!isThere()) throw new Error(`service dev ended without ${pattern}:\n${output}`);
    },
  };
}

/** Returns whether a process runs; one that has ended and was not collected does not. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== "linux" || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

/** An app that verifies events and prints their types. It writes its process ID and that of a child to `pids`. */
export const APP = `
const { spawn } = require("node:child_process");
const { writeFileSync } = require("node:fs");
const { createServer } = require("node:http");
const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
writeFileSync("pids", process.pid + " " + child.pid);
createServer((request, response) => {
  let body = "";
  request.on("data", (chunk) => (body += chunk)).on("end", () => {
    console.log("received " + JSON.parse(body).type + " at " + request.url);
    response.end();
  });
}).listen(APP_PORT);
`;

export const FILES = {
  "service.yaml": `
platform: { port: PORT }
forward: { to: localhost:APP_PORT/webhooks }
env: { file: .env.local }
run: node app.js
`,
  "app.js": APP,
};
