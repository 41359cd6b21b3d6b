import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { BIN, cliEnv } from "./run-cli.ts";

/** A line of `service listen --json`. */
export type ListenRecord = { event: string } & Record<string, unknown>;

/** The real `service listen --json` in a separate process. */
export interface RunningListener {
  secret: string;
  records: ListenRecord[];
  pid: number;
  stdout(): string;
  stderr(): string;
  /** Resolves with the first matching record, past or future. */
  record(fits: (record: ListenRecord) => boolean): Promise<ListenRecord>;
  /** Resolves with the exit code. */
  ended: Promise<number | null>;
  /** Interrupts it like Ctrl-C. Resolves with its exit code. */
  interrupt(): Promise<number | null>;
  /** Sends a signal. Resolves with its exit code. */
  end(signal: NodeJS.Signals): Promise<number | null>;
  /** Kills it with SIGKILL. */
  kill(): Promise<void>;
}

/** Starts it, and resolves once the platform has confirmed the session. */
export async function startListener(
  env: Readonly<Record<string, string>>,
  args: readonly string[],
): Promise<RunningListener> {
  const child = spawn(process.execPath, [BIN, "listen", "--json", ...args], {
    env: cliEnv(env),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let printed = "";
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (printed += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output += text));
  const records: ListenRecord[] = [];
  const waiting: { fits: (record: ListenRecord) => boolean; resolve: (record: ListenRecord) => void }[] = [];
  createInterface(child.stdout).on("line", (line) => {
    const record = JSON.parse(line) as ListenRecord;
    records.push(record);
    for (const waiter of waiting.filter(({ fits }) => fits(record))) {
      waiting.splice(waiting.indexOf(waiter), 1);
      waiter.resolve(record);
    }
  });
  const record = (fits: (record: ListenRecord) => boolean) =>
    new Promise<ListenRecord>((resolve) => {
      const found = records.find(fits);
      if (found === undefined) waiting.push({ fits, resolve });
      else resolve(found);
    });
  const closed = once(child, "close").then(([code]) => code as number | null);
  const failed = once(child, "exit").then(([code]) => {
    throw new Error(`service listen ended with ${String(code)}: ${output}`);
  });
  failed.catch(() => {});
  const ready = await Promise.race([record(({ event }) => event === "ready"), failed]);
  return {
    secret: String(ready["secret"]),
    records,
    pid: child.pid!,
    stdout: () => printed,
    stderr: () => output,
    record,
    ended: closed,
    interrupt: () => end(child, "SIGINT"),
    end: (signal) => end(child, signal),
    kill: async () => void (await end(child, "SIGKILL")),
  };
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const ended = once(child, "close");
  child.kill(signal);
  await ended;
  return child.exitCode;
}
