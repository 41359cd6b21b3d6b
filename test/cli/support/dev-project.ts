import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { freePort } from "../../support/free-port.ts";
import { cliEnv, type CliResult, runCli } from "../../support/run-cli.ts";
import { type CommandProcess, type RunningCommand, spawnCommand, startCommand } from "../../support/running-command.ts";

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
    service: (args, more) => runCli(args, { cwd: folder, env: { ...env, ...more } }),
  };
}

/** A command in the folder of a project. */
export type ProjectCommand<Command = RunningCommand> = Command & {
  /** Resolves once the output matches. */
  waitFor(pattern: RegExp | string): Promise<void>;
};

type Project = Pick<DevProject, "folder" | "env">;

/** Starts `service dev` in this process, and interrupts it at the end of the test. */
export const startDev = (project: Project, args: readonly string[] = [], env: Record<string, string> = {}) =>
  startInProject(project, ["dev", ...args], env);

/** Starts `service dev` in a separate process, for tests that kill it or send signals. */
export const spawnDev = (project: Project): ProjectCommand<CommandProcess> =>
  withOutput(spawnCommand(["dev"], { cwd: project.folder, env: project.env }));

/** Starts a command that runs until it is interrupted. */
export const startInProject = ({ folder, env }: Project, args: readonly string[], more: Record<string, string> = {}) =>
  withOutput(startCommand(args, { cwd: folder, env: { ...env, ...more } }));

function withOutput<Command extends RunningCommand>(command: Command): ProjectCommand<Command> {
  let hasEnded = false;
  void command.ended.then(() => (hasEnded = true));
  onTestFinished(async () => void (hasEnded || (await command.interrupt("SIGTERM"))));
  const { output } = command;
  return {
    ...command,
    async waitFor(pattern) {
      const isThere = (): boolean =>
        typeof pattern === "string" ? output().includes(pattern) : pattern.test(output());
      await expect.poll(() => isThere() || hasEnded, { timeout: 60_000 }).toBe(true);
      if (!isThere()) throw new Error(`The command ended without ${pattern}:\n${output()}`);
    },
  };
}

/** A second start says which process uses the database. */
export async function platformPid(project: DevProject): Promise<number> {
  const args = ["serve", "--port", "0", "--database", ".service/platform.db"];
  const { stderr } = await project.service(args);
  return Number(/in use by process (\d+)/.exec(stderr)![1]);
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

/** An app that verifies events and prints their types. It writes its process ID and that of a child to `pids`, at once. */
export const APP = `
const { spawn } = require("node:child_process");
const { renameSync, writeFileSync } = require("node:fs");
const { createServer } = require("node:http");
const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
writeFileSync("pids.new", process.pid + " " + child.pid);
renameSync("pids.new", "pids");
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
