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

/** Runs one command line with this I/O: that of the process, or of a test. Returns the exit code; never throws. */
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

/** What the process is to exit with where stdout did not take what was printed. */
export async function lostOutput(error: NodeJS.ErrnoException): Promise<number> {
  if (error.code === "EPIPE") return EXIT_CODES.ok;
  return await reportFailure(new LostOutputError(error), [], currentProcessIo(new AbortController()));
}

/** Throws LostOutputError where stdout did not take what was printed, which its stream tells a turn later. */
async function settleOutput(signal: AbortSignal): Promise<void> {
  await new Promise(setImmediate);
  if (signal.reason instanceof LostOutputError) throw signal.reason;
}

/**
 * Ends the command on signals; the same one again ends the process at once. Another one says no more than the first:
 * Ctrl-C reaches this process and whoever started it, who may pass on SIGTERM.
 */
function listenForSignals(controller: AbortController): void {
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    let isSecond = false;
    // The listener stays: packages that restore the cursor would otherwise take the signal for unhandled.
    const onSignal = (): void => {
      if (isSecond) {
        // Those packages' own listeners stay, and restore it.
        process.off(name, onSignal);
        process.kill(process.pid, name);
      }
      isSecond = true;
      controller.abort(new InterruptedError(name));
    };
    process.on(name, onSignal);
  }
}
