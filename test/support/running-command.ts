import { spawn } from "node:child_process";
import { once } from "node:events";
import { BIN, cliEnv, type CliOptions, type InterruptingSignal, interruption, isForNode, runCli } from "./run-cli.ts";

/** A line of a command's output with `--json`. */
export type CliRecord = { event: string } & Record<string, unknown>;

type End = number | NodeJS.Signals | null;

/** A command that runs until it is interrupted. */
export interface RunningCommand {
  stdout: () => string;
  stderr: () => string;
  /** Both in the order of their arrival. */
  output: () => string;
  /** The complete lines of its output. */
  lines: string[];
  /** The same lines with `--json`. */
  records: CliRecord[];
  /** Resolves with the first matching record, past or future. Rejects if the command ends without it. */
  record(fits: (record: CliRecord) => boolean): Promise<CliRecord>;
  /** Resolves with the exit code, or the signal that ended the process. */
  ended: Promise<End>;
  /** Interrupts it, by default like Ctrl-C, and resolves with its end. */
  interrupt(signal?: InterruptingSignal): Promise<End>;
}

/** The same in a separate process. */
export interface CommandProcess extends RunningCommand {
  pid: number;
  /** Kills it with SIGKILL. */
  kill: () => Promise<void>;
}

type StartOptions = Omit<CliOptions, "input">;

export interface SpawnOptions extends StartOptions {
  /** A shell command that runs first, such as `ulimit -n 64`. */
  limits?: string | undefined;
}

/** Starts a command in this process, for tests that neither kill nor inspect the process. */
export function startCommand(args: readonly string[], options: StartOptions = {}): RunningCommand {
  if (isForNode(options.env)) return spawnCommand(args, options);
  const controller = new AbortController();
  const { command, ...output } = outputOf(args, (signal) => controller.abort(interruption(signal)));
  return command(runCli(args, { ...options, ...output, signal: controller.signal }).then(({ exitCode }) => exitCode));
}

/** Starts a command in a separate process. */
export function spawnCommand(args: readonly string[], { env, cwd, limits }: SpawnOptions = {}): CommandProcess {
  const shell = limits === undefined ? [] : ["bash", "-c", `${limits}; exec "$0" "$@"`];
  const [program = "", ...rest] = [...shell, process.execPath, BIN, ...args];
  const child = spawn(program, rest, { env: cliEnv(env), cwd, stdio: ["ignore", "pipe", "pipe"] });
  const { command, onStdout, onStderr } = outputOf(args, (signal) => child.kill(signal));
  child.stdout.setEncoding("utf8").on("data", onStdout);
  child.stderr.setEncoding("utf8").on("data", onStderr);
  const ended = once(child, "close").then(([code, signal]) => (code ?? signal) as End);
  const kill = async (): Promise<void> => {
    child.kill("SIGKILL");
    await ended;
  };
  return { ...command(ended), pid: child.pid!, kill };
}

/** Collects the output of a command. */
function outputOf(args: readonly string[], interrupt: (signal: InterruptingSignal) => void) {
  let stdout = "";
  let stderr = "";
  let output = "";
  let rest = "";
  const lines: string[] = [];
  const records: CliRecord[] = [];
  const waiting = new Set<() => void>();
  return {
    onStdout: (text: string): void => {
      stdout += text;
      output += text;
      const whole = (rest + text).split("\n");
      rest = whole.pop()!;
      lines.push(...whole);
      records.push(...whole.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line) as CliRecord));
      for (const check of waiting) check();
    },
    onStderr: (text: string): void => {
      stderr += text;
      output += text;
    },
    command: (ended: Promise<End>): RunningCommand => ({
      stdout: () => stdout,
      stderr: () => stderr,
      output: () => output,
      lines,
      records,
      record: (fits) =>
        new Promise((resolve, reject) => {
          const check = (): void => {
            const found = records.find(fits);
            if (found === undefined) return;
            waiting.delete(check);
            resolve(found);
          };
          waiting.add(check);
          check();
          ended.then((code) => reject(new Error(`service ${args.join(" ")} ended with ${code}: ${stderr}`)), reject);
        }),
      ended,
      async interrupt(signal = "SIGINT") {
        interrupt(signal);
        return await ended;
      },
    }),
  };
}
