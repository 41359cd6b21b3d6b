import spawn from "cross-spawn";
import type { ChildProcess } from "node:child_process";
import { constants } from "node:os";
import type { Context } from "../context.ts";
import { InterruptedError, UserError } from "../errors.ts";

/** After this time, a command that still runs after Ctrl-C gets a SIGTERM. */
const CTRL_C_GRACE_MS = 5000;
/** Signals that a shell user expects to reach the command. Those that end this process come through the context. */
const PASSED_ON = ["SIGQUIT", "SIGUSR2"] as const;
/** Exit codes of shells for a command that cannot be found, or cannot be executed. */
const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;

export interface ChildEnd {
  exitCode: number;
  /** Why it could not be started. */
  error?: UserError;
}

/** A command that runs in the foreground, next to this process: it has the terminal and gets the signals. */
export class ChildCommand {
  readonly ended: Promise<ChildEnd>;
  #child: ChildProcess | undefined;
  #grace: NodeJS.Timeout | undefined;

  /** Starts it with more environment variables. Its stdout is this process's, or stderr if stdout is for `--json`. */
  constructor(
    [program = "", ...args]: readonly string[],
    variables: Readonly<Record<string, string>>,
    context: Context,
  ) {
    const { env, output, signal } = context;
    let child: ChildProcess;
    try {
      // Windows starts npm and other scripts only through its shell, with its own quoting, which cross-spawn handles.
      child = spawn(program, args, {
        env: { ...env, ...variables },
        stdio: ["inherit", output.json ? 2 : "inherit", "inherit"],
      });
    } catch (error) {
      // Some paths are rejected at once, such as one that leads through a file.
      this.ended = Promise.resolve(notStarted(program, error as NodeJS.ErrnoException));
      return;
    }
    this.#child = child;
    const passOn = PASSED_ON.map((name) => {
      const listener = () => this.kill(name);
      process.on(name, listener);
      return () => process.off(name, listener);
    });
    const onAbort = () => this.#passOn(signal.reason, context);
    signal.addEventListener("abort", onAbort);
    this.ended = new Promise<ChildEnd>((resolve) => {
      child.once("error", (error: NodeJS.ErrnoException) => resolve(notStarted(program, error)));
      child.once("exit", (code, name) => resolve({ exitCode: code ?? 128 + constants.signals[name!] }));
    }).finally(() => {
      clearTimeout(this.#grace);
      signal.removeEventListener("abort", onAbort);
      for (const stop of passOn) stop();
    });
  }

  kill(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  /**
   * A terminal sends Ctrl-C to both processes, and a second one may mean something else to the command. But a SIGINT may
   * also come from another program, to this process only.
   */
  #passOn(reason: unknown, { stdin }: Context): void {
    const signal = reason instanceof InterruptedError ? reason.signal : "SIGTERM";
    if (signal !== "SIGINT" || !stdin.isTTY) return this.kill(signal);
    this.#grace = setTimeout(() => this.kill("SIGTERM"), CTRL_C_GRACE_MS);
  }
}

function notStarted(program: string, error: NodeJS.ErrnoException): ChildEnd {
  const isMissing = error.code === "ENOENT" || error.code === "ENOTDIR" || program === "";
  const exitCode = isMissing ? NOT_FOUND : NOT_EXECUTABLE;
  return {
    exitCode,
    error: new UserError(
      isMissing ? `Command not found: ${program === "" ? '""' : program}` : `Cannot run ${program}: ${error.message}`,
      { exitCode },
    ),
  };
}
