import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { type Api, apiOf } from "./api.ts";
import { BIN, cliEnv, interruption, createConfigDir, runCli } from "./run-cli.ts";

/** The first line of `service serve --json`. */
export interface ReadyLine {
  event: "ready";
  base_url: string;
  /** Present if the platform listens, or if clients use another URL. */
  listen_url?: string;
  auth_url: string;
  dashboard_url: string;
  database: string;
  version: string;
  account: string;
  sandbox_key: string;
  live_key: string;
  sign_in_url?: string;
  /** Present if the keys and the link are stored there, and not in the line itself. */
  credentials_file?: string;
}

/** The real platform. */
export interface ServedPlatform {
  /** The URL that clients use. */
  baseUrl: string;
  /** The URL of the process itself, without a proxy. */
  listenUrl: string;
  authUrl: string;
  sandboxKey: string;
  liveKey: string;
  /** Calls its API with the sandbox key. */
  api: Api;
  ready: ReadyLine;
  /** The lines that it has printed after the first one. */
  lines: string[];
  /** The environment variables that the CLI needs to use it, with a shared settings folder. */
  env: Record<string, string>;
  /** Sends a signal and resolves with its exit code. */
  stop(): Promise<number | null>;
}

/** A platform in a separate process. */
export interface RunningPlatform extends ServedPlatform {
  pid: number;
  /** Kills it with SIGKILL, like a crash. */
  kill(): Promise<void>;
}

/** Tests send more requests than the default rate limit allows. */
const UNLIMITED = ["--rate-limit", "0"];
const SERVE = ["serve", "--json", "--allow-private-targets"];
/** The master key that the processes on one database share. */
const MASTER_KEY = "5a".repeat(32);

/** Starts `service serve` with a database file that outlives it. */
export function startPlatformOn(database: string, port = 0, env: Record<string, string> = {}) {
  return launch(["--database", database, "--port", String(port), ...UNLIMITED], env);
}

/**
 * Starts `service serve --ephemeral` on a free port, and resolves once it accepts requests. `limits` is a shell command
 * that runs first, such as `ulimit -n 64`.
 */
export function startPlatform(args: readonly string[] = [], limits?: string): Promise<RunningPlatform> {
  const flags = ["--ephemeral", "--port", "0", ...(args.includes("--rate-limit") ? [] : UNLIMITED), ...args];
  return launch(flags, {}, limits);
}

/** Starts the same in this process, for tests that neither kill nor inspect the process. */
export async function servePlatform(args: readonly string[] = []): Promise<ServedPlatform> {
  const flags = ["--ephemeral", "--port", "0", ...(args.includes("--rate-limit") ? [] : UNLIMITED), ...args];
  const controller = new AbortController();
  const lines: string[] = [];
  let announce: (line: string) => void;
  const first = new Promise<string>((resolve) => (announce = resolve));
  const onStdout = (text: string) => {
    for (const line of text.split("\n").filter(Boolean)) {
      if (lines.push(line) === 1) announce(line);
    }
  };
  const ended = runCli([...SERVE, ...flags], { onStdout, signal: controller.signal });
  const early = ended.then(({ exitCode, stderr }) => {
    throw new Error(`service serve ended with ${exitCode} before it was ready:\n${stderr}`);
  });
  const ready = JSON.parse(await Promise.race([first, early])) as ReadyLine;
  lines.shift();
  return {
    ...served(ready, lines),
    async stop() {
      controller.abort(interruption());
      return (await ended).exitCode;
    },
  };
}

/** Starts one of several processes on a database, on a free port unless the flags name one. `limits` as above. */
export function startNode(
  database: string,
  args: readonly string[] = [],
  masterKey = MASTER_KEY,
  env: Record<string, string> = {},
  limits?: string,
) {
  const port = args.includes("--port") ? [] : ["--port", "0"];
  const flags = [...port, ...(args.includes("--rate-limit") ? [] : UNLIMITED), ...args];
  return launch(flags, { ...env, SERVICE_DATABASE: database, SERVICE_MASTER_KEY: masterKey }, limits);
}

async function launch(
  flags: readonly string[],
  env: Record<string, string> = {},
  limits?: string,
): Promise<RunningPlatform> {
  const command = [process.execPath, BIN, ...SERVE, ...flags];
  const [program = "", ...args] =
    limits === undefined ? command : ["bash", "-c", `${limits}; exec "$0" "$@"`, ...command];
  const child = spawn(program, args, { env: cliEnv(env), stdio: ["ignore", "pipe", "pipe"] });
  let complaints = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (complaints += text));
  const lines: string[] = [];
  const ready = await new Promise<ReadyLine>((resolve, reject) => {
    createInterface(child.stdout).on("line", (line) => {
      lines.push(line);
      if (lines.length === 1) resolve(withCredentials(JSON.parse(line) as ReadyLine));
    });
    child.once("exit", (code) =>
      reject(new Error(`service serve ended with ${code} before it was ready:\n${complaints}`)),
    );
    child.once("error", reject);
  });
  lines.shift();
  return { ...served(ready, lines), pid: child.pid!, stop: () => stop(child), kill: () => kill(child) };
}

function served(ready: ReadyLine, lines: string[]): Omit<ServedPlatform, "stop"> {
  return {
    baseUrl: ready.base_url,
    listenUrl: ready.listen_url ?? ready.base_url,
    authUrl: ready.auth_url,
    sandboxKey: ready.sandbox_key,
    liveKey: ready.live_key,
    api: apiOf(ready.base_url, ready.sandbox_key),
    ready,
    lines,
    env: {
      SERVICE_BASE_URL: ready.base_url,
      SERVICE_API_KEY: ready.sandbox_key,
      SERVICE_CONFIG_DIR: createConfigDir(),
    },
  };
}

/** Adds the contents of the credentials file to the first line; at later starts, which do not name it, the keys. */
export function withCredentials<Ready extends Partial<ReadyLine>>(ready: Ready): Ready {
  const { credentials_file: file = `${ready.database}.credentials` } = ready;
  if (!existsSync(file)) return ready;
  const content = JSON.parse(readFileSync(file, "utf8")) as Ready;
  const { sandbox_key, live_key } = content;
  return { ...(ready.credentials_file === undefined ? { sandbox_key, live_key } : content), ...ready };
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}

async function stop(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  await ended;
  return child.exitCode;
}
