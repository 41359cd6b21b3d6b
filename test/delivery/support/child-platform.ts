import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { type Api, apiOf } from "../../support/api.ts";
import { withCredentials } from "../../support/platform.ts";
import { BIN, cliEnv } from "../../support/run-cli.ts";

/** The built platform in a separate process, with a database file that outlives it. */
export interface ChildPlatform {
  baseUrl: string;
  api: Api;
  /** The value of the Authorization header. */
  authorization: string;
  pid: number;
  /** When it reported readiness, in milliseconds of this process. */
  readyAt: number;
  /** Returns its JSON lines of one kind. */
  lines(event: string): Record<string, unknown>[];
  /** Sends a signal. Resolves with the exit code, or null if the signal ended it. */
  end(signal: "SIGTERM" | "SIGKILL"): Promise<number | null>;
}

export interface ChildPlatformOptions {
  database: string;
  port?: number;
  env?: Record<string, string>;
  /** Whether to keep its output, which may be long. */
  keepLines?: boolean;
}

/** Keys are printed only at the first start with a database file. */
const keys = new Map<string, string>();

export async function startChildPlatform({
  database,
  port = 0,
  env = {},
  keepLines = false,
}: ChildPlatformOptions): Promise<ChildPlatform> {
  const flags = [
    "serve",
    "--json",
    "--port",
    String(port),
    "--database",
    database,
    "--allow-private-targets",
    "--rate-limit",
    "0",
  ];
  const child: ChildProcess = spawn(process.execPath, [BIN, ...flags], {
    env: cliEnv(env),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let complaints = "";
  child.stderr!.setEncoding("utf8").on("data", (text: string) => (complaints += text));
  const lines: Record<string, unknown>[] = [];
  const ready = await new Promise<Record<string, string>>((resolve, reject) => {
    let isReady = false;
    createInterface(child.stdout!).on("line", (line) => {
      if (!isReady) resolve(withCredentials(JSON.parse(line) as Record<string, string>));
      else if (keepLines) lines.push(JSON.parse(line) as Record<string, unknown>);
      isReady = true;
    });
    child.once("exit", (code) => reject(new Error(`the platform ended with ${code}: ${complaints}`)));
  });
  const key = ready["sandbox_key"] ?? keys.get(database)!;
  keys.set(database, key);
  const baseUrl = ready["base_url"]!;
  return {
    baseUrl,
    api: apiOf(baseUrl, key),
    authorization: `Bearer ${key}`,
    pid: child.pid!,
    readyAt: performance.now(),
    lines: (event) => lines.filter((line) => line["event"] === event),
    async end(signal) {
      if (child.exitCode === null && child.signalCode === null) {
        const ended = once(child, "exit");
        child.kill(signal);
        await ended;
      }
      return child.exitCode;
    },
  };
}
