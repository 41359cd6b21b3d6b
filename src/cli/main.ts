import { BrokenPipeError, EXIT_CODES, InterruptedError } from "./errors.ts";

await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<void> {
  // Scripts ask for the version often, and it needs none of the rest.
  if (args.length === 1 && (args[0] === "--version" || args[0] === "-V")) {
    process.stdout.write(`${__VERSION__}\n`);
    return;
  }
  const controller = new AbortController();
  listenForEnd(controller);
  const { runProgram } = await import("./program.ts");
  try {
    await runProgram(args, controller.signal);
  } catch (error) {
    process.exitCode = await exitCodeOf(error, args, controller.signal);
  }
}

/** Ends the command on signals and on a closed stdout; a second signal ends the process at once. */
function listenForEnd(controller: AbortController): void {
  for (const name of ["SIGINT", "SIGTERM"] as const) {
    process.once(name, () => controller.abort(new InterruptedError(name)));
  }
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    controller.abort(error.code === "EPIPE" ? new BrokenPipeError("stdout was closed") : error);
  });
  // Nobody is left to be told.
  process.stderr.on("error", () => {});
}

/** The one place where what was thrown becomes words on stderr and an exit code. */
async function exitCodeOf(error: unknown, args: readonly string[], signal: AbortSignal): Promise<number> {
  if (signal.reason instanceof BrokenPipeError) return EXIT_CODES.ok;
  const { reportFailure } = await import("./report-failure.ts");
  return await reportFailure(error, args, signal);
}
