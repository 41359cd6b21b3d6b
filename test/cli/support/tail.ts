import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { expect, onTestFinished } from "vitest";
import { BIN, cliEnv } from "../../support/run-cli.ts";

/** A running command that follows a list. */
export interface Tail {
  /** Its output on stdout. */
  readonly lines: string[];
  stderr(): string;
  until(condition: () => boolean): Promise<void>;
  /** Calls `provoke` until a line arrives, which shows that the command is ready. */
  begun(provoke: () => Promise<unknown>): Promise<void>;
  /** Sends a signal and resolves with the exit code. */
  end(signal: NodeJS.Signals): Promise<number | null>;
}

/** Starts a command such as `events tail`, and stops it at the end of the test. */
export function startTail(args: readonly string[], env: Readonly<Record<string, string>>): Tail {
  const child: ChildProcess = spawn(process.execPath, [BIN, ...args], {
    env: cliEnv(env),
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const lines: string[] = [];
  createInterface(child.stdout!).on("line", (line) => lines.push(line));
  let stderr = "";
  child.stderr!.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  return {
    lines,
    stderr: () => stderr,
    until: (condition) => expect.poll(condition).toBe(true),
    begun: (provoke) =>
      expect
        .poll(
          async () => {
            await provoke();
            return lines.length;
          },
          { timeout: 60_000, interval: 200 },
        )
        .not.toBe(0),
    async end(signal) {
      const ended = once(child, "close");
      child.kill(signal);
      await ended;
      return child.exitCode;
    },
  };
}
