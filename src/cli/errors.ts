/** Exit codes of the process. Scripts rely on these numbers. */
export const EXIT_CODES = {
  ok: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  notSignedIn: 4,
  notAllowed: 5,
  rateLimited: 6,
  unreachable: 7,
  hungUp: 129,
  interrupted: 130,
  terminated: 143,
} as const;

export type ExitCode = (typeof EXIT_CODES)[keyof typeof EXIT_CODES];

interface UserErrorOptions {
  /** What to do next: a sentence, or several lines. */
  hint?: string | undefined;
  /** One of `EXIT_CODES`, or that of a command that the user gave. */
  exitCode?: number | undefined;
  /** Stable, snake_case: for programs that read `--json` errors. */
  code?: string;
  cause?: unknown;
}

/** An error that the user can fix. Any other error counts as a defect. */
export class UserError extends Error {
  override name = "UserError";
  readonly hint: string | undefined;
  readonly exitCode: number;
  readonly code: string;

  constructor(message: string, { hint, exitCode = EXIT_CODES.failed, code = "failed", cause }: UserErrorOptions = {}) {
    super(message, { cause });
    this.hint = hint;
    this.exitCode = exitCode;
    this.code = code;
  }
}

/** What to do about a credential that lacks a scope. */
export const SCOPE_ADVICE = "Use a key with that scope. To list the scopes of this one: service whoami";

/** An invalid command line: exit 2. */
export class UsageError extends UserError {
  override name = "UsageError";

  constructor(message: string, options: Omit<UserErrorOptions, "exitCode"> = {}) {
    super(message, { code: "usage", ...options, exitCode: EXIT_CODES.usage });
  }
}

/** Turns an error in a flag's value into a usage error that names the flag. */
export function asUsage<Value>(make: () => Value, expected: new (...args: never[]) => Error, flag: string): Value {
  try {
    return make();
  } catch (error) {
    if (error instanceof expected) throw new UsageError(`${flag}: ${error.message}`, { cause: error });
    throw error;
  }
}

/** There is no credential: exit 4, as for a 401. */
export class NotSignedInError extends UserError {
  override name = "NotSignedInError";

  constructor(message: string, hint: string) {
    super(message, { hint, exitCode: EXIT_CODES.notSignedIn, code: "not_signed_in" });
  }
}

const SIGNALS = {
  SIGHUP: { message: "The terminal was closed", exitCode: EXIT_CODES.hungUp },
  SIGINT: { message: "Interrupted", exitCode: EXIT_CODES.interrupted },
  SIGTERM: { message: "Terminated", exitCode: EXIT_CODES.terminated },
} as const;

/** Ctrl-C, a closed terminal or a termination signal; the reason of an aborted `Context.signal`. */
export class InterruptedError extends Error {
  override name = "InterruptedError";
  readonly signal: keyof typeof SIGNALS;
  readonly exitCode: ExitCode;

  constructor(signal: keyof typeof SIGNALS) {
    const { message, exitCode } = SIGNALS[signal];
    super(message);
    this.signal = signal;
    this.exitCode = exitCode;
  }
}

/** Returns true if the user ended the command at the keyboard, which is the normal end of a stream. */
export function isCtrlC(reason: unknown): boolean {
  return reason instanceof InterruptedError && reason.signal === "SIGINT";
}

/** Ends a stream whose output is complete. Throws SilentExit after a signal other than Ctrl-C, and any other reason. */
export function endStream(reason: unknown): void {
  if (!(reason instanceof InterruptedError)) throw reason;
  if (!isCtrlC(reason)) throw new SilentExit(reason.exitCode);
}

/** Waits for work. Rejects with the reason of the signal as soon as it is aborted. */
export async function orAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  const over = new AbortController();
  const aborted = new Promise<never>((_resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true, signal: over.signal });
  });
  return await Promise.race([work, aborted]).finally(() => over.abort());
}

/** The reader of stdout has closed it, as in `| head`: exits quietly with 0. */
export class BrokenPipeError extends Error {
  override name = "BrokenPipeError";
}

/** Output could not be written, as on a full disk. */
export class LostOutputError extends UserError {
  override name = "LostOutputError";

  constructor(cause: NodeJS.ErrnoException) {
    super(`Cannot write to stdout (${cause.code})`, {
      hint: "Check the free space of its destination.",
      code: "lost_output",
      cause,
    });
  }
}

/** The command has printed everything and exits with this code. */
export class SilentExit extends Error {
  override name = "SilentExit";
  readonly exitCode: number;

  constructor(exitCode: number) {
    super(`exit ${exitCode}`);
    this.exitCode = exitCode;
  }
}
