import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:os";
import type { Context } from "../../context.ts";
import { EXIT_CODES, InterruptedError, UserError } from "../../errors.ts";
import { SECRET_VARIABLE } from "../webhooks/secrets.ts";

/** Signals that a shell's user expects to reach the command; Ctrl-C and SIGTERM come through the context. */
const PASSED_ON = ["SIGHUP", "SIGQUIT", "SIGUSR2"] as const;
/** What shells end with where a command cannot be found, or cannot be run. */
const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;

export interface ChildEnd {
  exitCode: number;
  /** Why it could not be started. */
  error?: UserError;
}

/** A command that runs while events flow, in the foreground: it has the terminal and the signals. */
export class ChildCommand {
  readonly ended: Promise<ChildEnd>;
  readonly #child: ChildProcess;

  /** Starts it. Its stdout is ours, or stderr where stdout belongs to `--json`. */
  constructor([program = "", ...args]: readonly string[], secret: string, context: Context) {
    const { env, platform, output, signal } = context;
    this.#child = spawn(program, args, {
      env: { ...env, [SECRET_VARIABLE]: secret },
      stdio: ["inherit", output.json ? 2 : "inherit", "inherit"],
      // Windows starts npm and its like, which are scripts, through a shell alone.
      shell: platform === "win32",
    });
    const passOn = PASSED_ON.map((name) => {
      const listener = () => this.kill(name);
      process.on(name, listener);
      return () => process.off(name, listener);
    });
    const onAbort = () => this.#passOn(signal.reason, context);
    signal.addEventListener("abort", onAbort);
    this.ended = new Promise<ChildEnd>((resolve) => {
      this.#child.once("error", (error: NodeJS.ErrnoException) => resolve(notStarted(program, error)));
      this.#child.once("exit", (code, name) => resolve({ exitCode: code ?? 128 + constants.signals[name!] }));
    }).finally(() => {
      signal.removeEventListener("abort", onAbort);
      for (const stop of passOn) stop();
    });
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** A terminal sends Ctrl-C to both; twice may mean something else to the command. */
  #passOn(reason: unknown, { stdin }: Context): void {
    const isInterrupt = reason instanceof InterruptedError && reason.exitCode === EXIT_CODES.interrupted;
    if (isInterrupt && stdin.isTTY) return;
    this.kill(isInterrupt ? "SIGINT" : "SIGTERM");
  }
}

function notStarted(program: string, error: NodeJS.ErrnoException): ChildEnd {
  const isMissing = error.code === "ENOENT";
  return {
    exitCode: isMissing ? NOT_FOUND : NOT_EXECUTABLE,
    error: new UserError(`${program} cannot be run: ${isMissing ? "there is no such command" : error.message}`),
  };
}
