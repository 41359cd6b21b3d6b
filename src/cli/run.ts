import { BrokenPipeError, EXIT_CODES, InterruptedError, LostOutputError } from "./errors.ts";
import { reportFailure } from "./failure.ts";
import { currentProcessIo, type ProcessIo } from "./process-io.ts";
import { runProgram } from "./program.ts";

/** Runs one command line of this process and returns its exit code. Never throws. */
export async function run(args: readonly string[]): Promise<number> {
  const controller = new AbortController();
  listenForSignals(controller);
  return await runIn(currentProcessIo(controller), args);
}

/** Runs one command line with this I/O: the process's, or a test's. Returns the exit code. Never throws. */
export async function runIn(io: ProcessIo, args: readonly string[]): Promise<number> {
  const { signal } = io;
  try {
    await runProgram(args, io);
    await settleOutput(signal);
    return EXIT_CODES.ok;
  } catch (error) {
    if (signal.reason instanceof BrokenPipeError) return EXIT_CODES.ok;
    return await reportFailure(error, args, io);
  }
}

/** The exit code of the process if stdout could not be written. */
export async function lostOutput(error: NodeJS.ErrnoException): Promise<number> {
  if (error.code === "EPIPE") return EXIT_CODES.ok;
  return await reportFailure(new LostOutputError(error), [], currentProcessIo(new AbortController()));
}

/** Throws LostOutputError if stdout could not be written, which its stream reports a turn later. */
async function settleOutput(signal: AbortSignal): Promise<void> {
  await new Promise(setImmediate);
  if (signal.reason instanceof LostOutputError) throw signal.reason;
}

/**
 * Ends the command on signals; the same one again ends the process at once. Another one is ignored: Ctrl-C reaches this
 * process and its parent, which may pass on SIGTERM.
 */
function listenForSignals(controller: AbortController): void {
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    let isSecond = false;
    // The listener stays: packages that restore the cursor would otherwise consider the signal unhandled.
    const onSignal = (): void => {
      if (isSecond) {
        // The listeners of those packages stay, and restore it.
        process.off(name, onSignal);
        process.kill(process.pid, name);
      }
      isSecond = true;
      controller.abort(new InterruptedError(name));
    };
    process.on(name, onSignal);
  }
}
