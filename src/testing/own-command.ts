import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseJson } from "../contract/json.ts";
import { after } from "./time.ts";

const { env } = process;
const BIN = fileURLToPath(new URL("../../bin/service.js", import.meta.url));
/** A receiver that does not respond delays the end of the platform by up to 10 seconds. */
const STOP_MS = 2000;

/** Starts a command of this package with --json. It stops once this process has ended. `onLine` gets all but the first line. */
export function startOwnCommand(
  [name = "", ...args]: readonly string[],
  variables: Readonly<Record<string, string>>,
  onLine: (line: string) => void = () => {},
) {
  const isWindows = process.platform === "win32";
  const child = spawn(process.execPath, [BIN, name, "--json", ...args], {
    env: { ...inheritedVariables(), ...variables, SERVICE_NO_UPDATE_NOTIFIER: "1" },
    // A project file in the working folder would name another platform.
    cwd: fileURLToPath(new URL(".", import.meta.url)),
    // The IPC channel closes when this process ends, whatever ends it.
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    // Ctrl-C reaches this process only, so that its tests can finish.
    detached: !isWindows,
    windowsHide: true,
  });
  const { stdout, stderr, channel } = child;
  let errors = "";
  stderr!.setEncoding("utf8").on("data", (text: string) => (errors += text));
  const closed = once(child, "close").then(([code]) => code as number | null);
  const ended = closed.then((code) => {
    if (code !== 0) throw new Error(`service ${name} failed: ${reasonOf(errors, code)}`);
  });
  ended.catch(() => {});
  let first: string | undefined;
  const firstLine = new Promise<string>((resolve) => {
    createInterface(stdout!).on("line", (line) => {
      if (first !== undefined) return onLine(line);
      first = line;
      resolve(line);
    });
  });
  const handles = [child, channel!, stdout as Socket, stderr as Socket];
  return {
    /** Resolves with its first line of JSON, and then does not keep this process running. Rejects as `ended` does. */
    async ready<Ready>(): Promise<Ready> {
      const line = await Promise.race([firstLine, ended]);
      if (typeof line !== "string") throw new Error(`service ${name} printed nothing`);
      for (const handle of handles) handle.unref();
      return JSON.parse(line) as Ready;
    },
    /** Resolves once it has exited with 0. Rejects with its error otherwise. */
    ended,
    async stop(): Promise<void> {
      for (const handle of handles) handle.ref();
      // Windows has no signals.
      if (isWindows && child.connected) child.disconnect();
      else child.kill("SIGTERM");
      const cancel = after(STOP_MS, () => child.kill("SIGKILL"));
      await closed.catch(() => {});
      cancel();
    },
  };
}

/** Returns this process's variables without what a test's runner or a developer has set for other programs. */
function inheritedVariables(): NodeJS.ProcessEnv {
  const isForeign = (name: string) => name.startsWith("SERVICE_") || name === "NODE_OPTIONS";
  return Object.fromEntries(Object.entries(env).filter(([name]) => !isForeign(name)));
}

/** Returns the error of a command that ran with --json. */
function reasonOf(errors: string, code: number | null): string {
  const problem = parseJson(errors.trim().split("\n").at(-1) ?? "") as { detail: string; hint?: string } | undefined;
  if (problem === undefined) return errors.trim() || `it exited with ${code}`;
  return [problem.detail, problem.hint].filter(Boolean).join(". ");
}

/** The first line of `service serve --json`. */
export interface ReadyLine extends Partial<Keys> {
  base_url: string;
  /** The file that has the keys of a database that is not temporary. */
  credentials_file?: string;
  temporary_folder?: string;
}

interface Keys {
  sandbox_key: string;
  live_key: string;
}

/** Returns the first keys of a database, which an SQLite file has next to it after its first start, too. */
export function keysOf(ready: ReadyLine, database: string | undefined): Keys {
  const { sandbox_key, live_key, credentials_file = `${database}.credentials` } = ready;
  if (sandbox_key !== undefined && live_key !== undefined) return { sandbox_key, live_key };
  if (existsSync(credentials_file)) return JSON.parse(readFileSync(credentials_file, "utf8")) as Keys;
  throw new Error(
    `The API keys of ${database} are unknown: ${credentials_file} does not exist. Use a new database, or none.`,
  );
}
