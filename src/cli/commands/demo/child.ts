import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** One of our own commands, run as its user would: in a process of its own, over the wire. */
export class CommandChild {
  readonly #process: ChildProcess;
  readonly #exit: Promise<number>;
  readonly #records: Record<string, unknown>[] = [];
  readonly #errors: string[] = [];
  #onRecord: () => void = () => {};

  constructor(args: readonly string[], env: Record<string, string | undefined>, input?: string) {
    const child = spawn(process.execPath, [process.argv[1]!, ...args], { env, stdio: ["pipe", "pipe", "pipe"] });
    this.#process = child;
    this.#exit = new Promise((resolve) => {
      child.once("error", () => resolve(1));
      child.once("close", (code) => resolve(code ?? 1));
    });
    child.stdin.on("error", () => {});
    child.stdin.end(input ?? "");
    createInterface({ input: child.stdout }).on("line", (line) => {
      this.#records.push(parse(line));
      this.#onRecord();
    });
    createInterface({ input: child.stderr }).on("line", (line) => this.#errors.push(line));
  }

  /** What it said on stderr. */
  get complaint(): string {
    return this.#errors.join("\n");
  }

  /** The exit code, once it has ended. */
  get ended(): Promise<number> {
    return this.#exit;
  }

  /** The first JSON line of stdout that fits; rejects where the command ends before. */
  async waitFor(fits: (record: Record<string, unknown>) => boolean): Promise<Record<string, unknown>> {
    const found = new Promise<Record<string, unknown>>((resolve) => {
      this.#onRecord = () => {
        const record = this.#records.find(fits);
        if (record !== undefined) resolve(record);
      };
      this.#onRecord();
    });
    const ended = this.#exit.then((code) => {
      throw new Error(this.complaint || `it ended with exit code ${code}`);
    });
    return await Promise.race([found, ended]);
  }

  /** Asks it to end and waits until it has. */
  async stop(): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) this.#process.kill("SIGTERM");
    await this.#exit;
  }
}

function parse(line: string): Record<string, unknown> {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return { text: line };
  }
}
