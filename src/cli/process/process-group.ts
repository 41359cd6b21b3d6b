import { type ChildProcess, spawn, type SpawnOptions, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { constants } from "node:os";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { parseJson } from "../../contract/json.ts";
import type { Surroundings } from "../process-io.ts";

const POLL_MS = 20;
/** Output that has not arrived by then is from a process that has left the group. */
const LAST_OUTPUT_MS = 500;

export interface Exit {
  code: number;
  signal: NodeJS.Signals | null;
}

/** A process and its descendants, unless they leave its process group. Ctrl-C in the terminal does not reach them. */
export class ProcessGroup {
  readonly child: ChildProcess;
  /** Resolves once the first process has ended; rejects if it could not be started. */
  readonly exited: Promise<Exit>;
  readonly #platform: NodeJS.Platform;
  readonly #closed: Promise<unknown>;
  #hasExited = false;

  constructor(command: string, args: readonly string[], options: SpawnOptions & { platform: NodeJS.Platform }) {
    const { platform, ...own } = options;
    this.#platform = platform;
    this.child = spawn(command, args, { ...own, detached: platform !== "win32" });
    this.#closed = once(this.child, "close").catch(() => {});
    this.exited = new Promise<Exit>((resolve, reject) => {
      this.child.once("error", reject);
      this.child.once("exit", (code, signal) => {
        this.#hasExited = true;
        resolve({ code: code ?? 128 + constants.signals[signal!], signal });
      });
    });
    this.exited.catch(() => {});
  }

  /**
   * Sends the signal to all processes, kills those that are still running after `graceMs`, and waits. Returns true if
   * any were killed.
   */
  async stop(signal: NodeJS.Signals, graceMs: number): Promise<boolean> {
    const { pid } = this.child;
    if (pid === undefined) return false;
    this.#send(signal);
    const deadline = performance.now() + graceMs;
    while (this.#isAlive() && performance.now() < deadline) await delay(POLL_MS);
    const isKilled = this.#isAlive();
    this.kill();
    await this.exited.catch(() => {});
    await Promise.race([this.#closed, delay(LAST_OUTPUT_MS, undefined, { ref: false })]);
    return isKilled;
  }

  kill(): void {
    if (this.#isAlive()) this.#send("SIGKILL");
  }

  #send(signal: NodeJS.Signals): void {
    const { pid } = this.child;
    if (pid === undefined) return;
    if (this.#platform === "win32") {
      // Windows has no signals. A program of this product stops once its IPC channel is closed.
      if (signal !== "SIGKILL" && this.child.connected) return this.child.disconnect();
      if (!this.#hasExited) spawnSync("taskkill", ["/pid", String(pid), "/T", "/F"]);
      return;
    }
    try {
      process.kill(-pid, signal);
    } catch {
      // All processes have exited.
    }
  }

  #isAlive(): boolean {
    const { pid } = this.child;
    if (pid === undefined) return false;
    if (!this.#hasExited) return true;
    if (this.#platform === "win32") return false;
    try {
      process.kill(-pid, 0);
    } catch {
      return false;
    }
    return this.#platform !== "linux" || hasLiveMember(pid);
  }
}

/** In a container, nothing may reap exited processes, and these still count as members of their group. */
function hasLiveMember(group: number): boolean {
  return readdirSync("/proc").some((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8");
      const [state, , own] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      return Number(own) === group && state !== "Z" && state !== "X";
    } catch {
      return false;
    }
  });
}

/**
 * Kills processes if this process exits, or gets another signal while `isStopping`. Returns a function that ends the
 * guard.
 */
export function killWithThisProcess(kill: () => void, isStopping: () => boolean): () => void {
  const names = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  const onSignal = (name: NodeJS.Signals): void => {
    if (!isStopping()) return;
    kill();
    // Without listeners the signal ends this process too.
    process.removeAllListeners(name);
    setImmediate(() => process.kill(process.pid, name));
  };
  for (const name of names) process.on(name, onSignal);
  process.on("exit", kill);
  return () => {
    for (const name of names) process.off(name, onSignal);
    process.off("exit", kill);
  };
}

/** A line that a command printed with `--json`; undefined if it is not JSON. */
type JsonRecord = Record<string, unknown> | undefined;

interface OwnCommandOptions extends Surroundings {
  /** All of the command's stdin. */
  input?: string | undefined;
  onStdout: (record: JsonRecord, line: string) => unknown;
  onStderr: (record: JsonRecord, line: string) => unknown;
}

/**
 * Starts one of this program's own commands in a separate process. `closed` resolves with its exit code after all of its
 * output, and rejects if it could not be started. It also stops if this process is killed.
 */
export function startCommand(
  args: readonly string[],
  options: OwnCommandOptions,
): { group: ProcessGroup; closed: Promise<number | null> } {
  const { env, platform, cwd, input, onStdout, onStderr } = options;
  const group = new ProcessGroup(process.execPath, [process.argv[1]!, ...args], {
    env,
    platform,
    cwd,
    stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe", "ipc"],
  });
  const { stdin, stdout, stderr } = group.child;
  stdin?.on("error", () => {}).end(input);
  createInterface({ input: stdout! }).on("line", (line) => onStdout(parseJson(line) as JsonRecord, line));
  createInterface({ input: stderr! }).on("line", (line) => onStderr(parseJson(line) as JsonRecord, line));
  const closed = once(group.child, "close").then(([code]) => code as number | null);
  closed.catch(() => {});
  return { group, closed };
}
