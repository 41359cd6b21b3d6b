import { writeSync } from "node:fs";
import { BrokenPipeError, EXIT_CODES, InterruptedError, LostOutputError } from "./errors.ts";

void main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<void> {
  const controller = new AbortController();
  // Scripts ask for the version often, and it needs none of the rest.
  if (args.length === 1 && (args[0] === "--version" || args[0] === "-V")) {
    await printVersion(controller);
    return;
  }
  listenForSignals(controller);
  const { runProgram } = await import("./program.ts");
  try {
    await runProgram(args, controller);
    await settleOutput(controller.signal);
  } catch (error) {
    process.exitCode = await exitCodeOf(error, args, controller);
  }
}

/** Throws LostOutputError where stdout did not take what was printed, which its stream tells a turn later. */
async function settleOutput(signal: AbortSignal): Promise<void> {
  await new Promise(setImmediate);
  if (signal.reason instanceof LostOutputError) throw signal.reason;
}

/** Node's own stream would take as long to load as all the rest. */
async function printVersion(controller: AbortController): Promise<void> {
  try {
    writeSync(1, `${__VERSION__}\n`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EPIPE") return;
    process.exitCode = await exitCodeOf(new LostOutputError(error as NodeJS.ErrnoException), [], controller);
  }
}

/**
 * Ends the command on signals; the same one again ends the process at once. Another one says no more than the first:
 * Ctrl-C reaches this process and whoever started it, who may pass on SIGTERM.
 */
function listenForSignals(controller: AbortController): void {
  for (const name of ["SIGINT", "SIGTERM"] as const) {
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

/** The one place where what was thrown becomes words on stderr and an exit code. */
async function exitCodeOf(error: unknown, args: readonly string[], controller: AbortController): Promise<number> {
  if (controller.signal.reason instanceof BrokenPipeError) return EXIT_CODES.ok;
  const { reportFailure } = await import("./report-failure.ts");
  return await reportFailure(error, args, controller);
}
