import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";
import { BIN, cliEnv } from "../../support/run-cli.ts";

type Line = { event: string } & Record<string, unknown>;

/** The real `service webhooks capture` in a separate process. */
export interface RunningCapture {
  url: string;
  lines: Line[];
  /** Resolves with the first matching line, past or future. */
  line(fits: (line: Line) => boolean): Promise<Line>;
  /** Resolves once it has ended by itself. */
  exit(): Promise<{ exitCode: number | null; stderr: string }>;
  /** Interrupts it, by default like Ctrl-C. Resolves with its exit code. */
  interrupt(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Starts it on a free port with `--json`, and resolves once it receives deliveries. */
export async function startCapture(args: readonly string[], cwd?: string): Promise<RunningCapture> {
  const child = spawn(process.execPath, [BIN, "webhooks", "capture", "--json", "--port", "0", ...args], {
    env: cliEnv(),
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const lines: Line[] = [];
  const waiting = new Set<() => void>();
  createInterface(child.stdout).on("line", (text) => {
    lines.push(JSON.parse(text) as Line);
    for (const check of waiting) check();
  });
  const line = (fits: (line: Line) => boolean) =>
    new Promise<Line>((resolve) => {
      const check = () => {
        const found = lines.find(fits);
        if (found === undefined) return;
        waiting.delete(check);
        resolve(found);
      };
      waiting.add(check);
      check();
    });
  const exited = once(child, "exit").then(([code]) => {
    throw new Error(`service webhooks capture ended with ${String(code)}: ${stderr}`);
  });
  exited.catch(() => {});
  const closed = once(child, "close");
  onTestFinished(async () => void (await interrupt(child)));
  const exit = async () => {
    await closed;
    return { exitCode: child.exitCode, stderr };
  };
  const ready = await Promise.race([line(({ event }) => event === "ready"), exited]);
  return { url: String(ready["url"]), lines, line, exit, interrupt: (signal) => interrupt(child, signal) };
}

async function interrupt(child: ChildProcess, signal: NodeJS.Signals = "SIGINT"): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const closed = once(child, "close");
  child.kill(signal);
  await closed;
  return child.exitCode;
}
