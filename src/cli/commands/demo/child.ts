import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** Runs one of the CLI's own commands as its user would: in a separate process, over the network. */
export class CommandChild {
  readonly #process: ChildProcess;
  readonly #exit: Promise<number>;
  readonly #records: Record<string, unknown>[] = [];
  readonly #errors: string[] = [];
  /** The exit code, once the command has exited. */
  #code: number | undefined;
  #onChange: () => void = () => {};

  constructor(args: readonly string[], env: Record<string, string | undefined>, input?: string) {
    const child = spawn(process.execPath, [process.argv[1]!, ...args], { env, stdio: ["pipe", "pipe", "pipe"] });
    this.#process = child;
    this.#exit = new Promise((resolve) => {
      const end = (code: number | null) => {
        this.#code ??= code ?? 1;
        resolve(this.#code);
        this.#onChange();
      };
      child.once("error", () => end(1));
      child.once("close", end);
    });
    child.stdin.on("error", () => {});
    child.stdin.end(input ?? "");
    createInterface({ input: child.stdout }).on("line", (line) => {
      this.#records.push(parse(line));
      this.#onChange();
    });
    createInterface({ input: child.stderr }).on("line", (line) => this.#errors.push(line));
  }

  /** The content of stderr. */
  get stderrText(): string {
    return this.#errors.join("\n");
  }

  /** The exit code, once the command has exited. */
  get ended(): Promise<number> {
    return this.#exit;
  }

  /** Resolves with the first matching JSON line of stdout. Rejects if the command exits before. */
  async waitFor(matches: (record: Record<string, unknown>) => boolean): Promise<Record<string, unknown>> {
    return await new Promise<Record<string, unknown>>((resolve, reject) => {
      this.#onChange = () => {
        const record = this.#records.find(matches);
        if (record !== undefined) resolve(record);
        else if (this.#code !== undefined) reject(new Error(this.stderrText || `exited with code ${this.#code}`));
      };
      this.#onChange();
    });
  }

  /** Stops the command and waits until it has exited. */
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
