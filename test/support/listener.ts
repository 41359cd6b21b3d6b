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
  /** Its output on stderr. */
  stderr(): string;
  /** The first record that fits, now or later. */
  record(fits: (record: ListenRecord) => boolean): Promise<ListenRecord>;
  /** Ends it as Ctrl-C does; resolves with its exit code. */
  interrupt(): Promise<number | null>;
  /** Ends it by a signal; resolves with its exit code. */
  end(signal: NodeJS.Signals): Promise<number | null>;
  /** Ends it by SIGKILL. */
  kill(): Promise<void>;
}

/** Starts it and resolves once the platform has said that events flow. */
export async function startListener(
  env: Readonly<Record<string, string>>,
  args: readonly string[],
): Promise<RunningListener> {
  const child = spawn(process.execPath, [BIN, "listen", "--json", ...args], {
    env: cliEnv(env),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
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
  const failed = once(child, "exit").then(([code]) => {
    throw new Error(`service listen ended with ${String(code)}: ${said}`);
  });
  failed.catch(() => {});
  const ready = await Promise.race([record(({ event }) => event === "ready"), failed]);
  return {
    secret: String(ready["secret"]),
    records,
    pid: child.pid!,
    stderr: () => said,
    record,
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
