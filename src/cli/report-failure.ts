import { EXIT_CODES, SilentExit } from "./errors.ts";
import { type Failure, failureOf } from "./failure.ts";
import type { ProcessIo } from "./process-io.ts";
import { compactJson } from "./terminal/json.ts";
import { printable } from "./terminal/printable.ts";
import { colorLevel, loadStyles, type Styles } from "./terminal/styles.ts";
import { wrapAfter } from "./terminal/wrap.ts";

/** Says on stderr why the command failed, as words or as a problem document, and gives its exit code. */
export async function reportFailure(
  error: unknown,
  args: readonly string[],
  { stderr, env }: Pick<ProcessIo, "stderr" | "env">,
): Promise<number> {
  if (error instanceof SilentExit) return error.exitCode;
  // The flags themselves may be what is wrong, so they are looked for in the plain command line.
  const own = args.includes("--") ? args.slice(0, args.indexOf("--")) : args;
  const styles = await loadStyles(colorLevel({ flag: !own.includes("--no-color"), env, stream: stderr }));
  const failure = failureOf(error);
  stderr.write(
    own.includes("--json") ? `${compactJson(failure.problem)}\n` : renderFailure(failure, stderr.columns, styles),
  );
  const debug = own.includes("--debug") || Boolean(env["SERVICE_DEBUG"]);
  if (debug && error instanceof Error) stderr.write(`${styles.dim(stackOf(error))}\n`);
  return failure.exitCode;
}

/** The stack with those of its causes. */
function stackOf(error: Error): string {
  const own = error.stack ?? error.message;
  return error.cause instanceof Error ? `${own}\nCaused by: ${stackOf(error.cause)}` : own;
}

/** The failure as lines for stderr. The last line is the one that helps most. */
function renderFailure(
  { message, details, hint, exitCode }: Failure,
  columns: number | undefined,
  styles: Styles,
): string {
  // Hints are not broken: they hold commands, which people copy.
  const lines = [
    exitCode === EXIT_CODES.interrupted
      ? message
      : wrapAfter("Error:", printable(message), { width: columns, style: (mark) => styles.bad(mark) }),
    ...details.map((detail) => `  ${printable(detail)}`),
    ...(hint ?? "")
      .split("\n")
      .filter((line) => line !== "")
      .map(printable),
  ];
  return `${lines.join("\n")}\n`;
}
