import { ApiError, NetworkError, UnsafeRequestError } from "../client/errors.ts";
import { EXIT_CODES, type ExitCode, InterruptedError, SCOPE_ADVICE, SilentExit, UserError } from "./errors.ts";
import type { FieldError } from "../contract/schemas/problem.ts";
import type { ProcessIo } from "./process-io.ts";
import { compactJson, mapTexts } from "./terminal/json.ts";
import { printable } from "./terminal/printable.ts";
import { colorLevel, loadStyles, type Styles } from "./terminal/styles.ts";
import { wrapAfter, wrapHint } from "./terminal/wrap.ts";
import { lookUp } from "../contract/ids.ts";
import { readInstead } from "../explain/resend.ts";
import { shellCommand } from "../contract/shell-command.ts";
import { capitalized, counted } from "../contract/words.ts";

/** A description of a failure, and the exit code of the command. */
interface Failure {
  message: string;
  details: readonly string[];
  hint: string | undefined;
  exitCode: number;
  /** True if the user ended the command, which is not an error. */
  isDecision?: true;
  /** The error as `--json` prints it. */
  problem: object;
}

/** Describes any thrown value. */
export function failureOf(error: unknown): Failure {
  if (error instanceof ApiError) return apiFailure(error);
  if (error instanceof NetworkError) {
    return ownFailure(error.message, { hint: error.hint, code: error.failure, exitCode: EXIT_CODES.unreachable });
  }
  if (error instanceof UnsafeRequestError) {
    return ownFailure(error.message, { hint: error.hint, code: "unsafe_request", exitCode: EXIT_CODES.usage });
  }
  if (error instanceof InterruptedError) {
    const { message, exitCode } = error;
    return { ...ownFailure(message, { hint: undefined, code: "interrupted", exitCode }), isDecision: true };
  }
  if (error instanceof UserError) {
    const failure = ownFailure(error.message, error);
    return error.code === "not_confirmed" ? { ...failure, isDecision: true } : failure;
  }
  return ownFailure(`Unexpected error: ${(error as Error)?.message ?? String(error)}`, {
    hint: `Run the command again with --debug${__ISSUES_URL__ === "" ? "." : ` and report the output: ${__ISSUES_URL__}`}`,
    code: "defect",
    exitCode: EXIT_CODES.failed,
  });
}

function ownFailure(
  message: string,
  { hint, code, exitCode }: { hint: string | undefined; code: string; exitCode: number },
): Failure {
  const title = capitalized(code.replaceAll("_", " "));
  const problem = { type: "about:blank", title, detail: message, hint, code, exit_code: exitCode };
  return { message, details: [], hint, exitCode, problem };
}

function apiFailure(error: ApiError): Failure {
  const [first, ...others] = error.errors.filter(({ code }) => code !== "taken");
  const describe = ({ pointer, detail }: FieldError): string =>
    `${error.nameOf(pointer)}: ${detail.replaceAll(/\bcreated_(?:after|before)\b/g, (name) => error.nameOf(`/${name}`))}`;
  // The platform's message describes the first field and counts the others, which follow here.
  const isSaid = first !== undefined && first.pointer !== "" && error.message.includes(first.detail);
  const fields = (isSaid || first === undefined ? others : [first, ...others]).map(describe);
  const hint = hintFor(error);
  const exitCode =
    error.status === 400 && !error.code.startsWith("invalid_") ? EXIT_CODES.failed : apiExitCode(error.status);
  const about = error.requestId === "" ? [] : [`${error.status} ${error.code}, request ${error.requestId}`];
  return {
    message: isSaid ? describe(first) : error.message,
    details: [...fields, ...about],
    hint,
    exitCode,
    problem: { ...error.problem, hint, exit_code: exitCode },
  };
}

export function apiExitCode(status: number): ExitCode {
  if (status === 400) return EXIT_CODES.usage;
  if (status === 401) return EXIT_CODES.notSignedIn;
  if (status === 403) return EXIT_CODES.notAllowed;
  if (status === 404) return EXIT_CODES.notFound;
  if (status === 429) return EXIT_CODES.rateLimited;
  return EXIT_CODES.failed;
}

function hintFor({ status, code, attempts, retryAfter, problem, hint, message, errors }: ApiError): string | undefined {
  if (errors.some(({ detail }) => detail.includes("--allow-private-targets"))) {
    return "To receive events on this machine instead: service listen --forward-to localhost:3000\nTo allow it: service serve --allow-private-targets, or platform.private_targets in service.yaml";
  }
  const [, fault] = /^The fault (flt_\w+) /.exec(message) ?? [];
  if (fault !== undefined) return shellCommand`To remove the fault: service faults remove ${fault}`;
  if (status === 401) return hint ?? "Sign in with `service login`, or set SERVICE_API_KEY to a valid key.";
  if (code === "insufficient_scope") return SCOPE_ADVICE;
  const instead = code === "delivery_not_retryable" ? readInstead(message) : undefined;
  if (instead !== undefined) return `To replay it: ${instead.command}`;
  const existing = lookUp(problem["existing"]);
  if (existing !== undefined) return `To see the existing ${existing.noun}: ${existing.command}`;
  if (code === "unsupported_version") return "The CLI and platform versions are incompatible. Update the older one.";
  if (status === 429) {
    const wait = retryAfter === undefined ? "in a moment" : `in ${retryAfter} s`;
    return `Rate limited after ${counted(attempts, "attempt")}. Try again ${wait}.`;
  }
  if (status === 404 && attempts > 1) return "An earlier attempt whose response was lost may have deleted it.";
  if (status >= 500) return "This is a platform error. Look up the request ID in the platform's log.";
  return hint;
}

/** Prints on stderr why the command failed, as text or as problem details. Returns its exit code. */
export async function reportFailure(
  error: unknown,
  args: readonly string[],
  { stderr, env, runnable }: Pick<ProcessIo, "stderr" | "env" | "runnable">,
): Promise<number> {
  if (error instanceof SilentExit) return error.exitCode;
  // The flags themselves may be invalid, so they are looked up in the raw command line.
  const own = args.includes("--") ? args.slice(0, args.indexOf("--")) : args;
  const styles = await loadStyles(colorLevel({ flag: !own.includes("--no-color"), env, stream: stderr }));
  const failure = failureOf(error);
  stderr.write(
    own.includes("--json")
      ? `${compactJson(mapTexts(failure.problem, runnable))}\n`
      : renderFailure(failure, { columns: stderr.columns, styles, runnable }),
  );
  const debug = own.includes("--debug") || Boolean(env["SERVICE_DEBUG"]);
  if (debug && error instanceof Error) stderr.write(`${styles.dim(stackOf(error))}\n`);
  return failure.exitCode;
}

/** Returns the stack with those of its causes. */
function stackOf(error: Error): string {
  const own = error.stack ?? error.message;
  return error.cause instanceof Error ? `${own}\nCaused by: ${stackOf(error.cause)}` : own;
}

/** Returns the failure as lines for stderr. The last line is the most helpful one. */
function renderFailure(
  { message, details, hint, isDecision }: Failure,
  { columns, styles, runnable }: { columns: number | undefined; styles: Styles; runnable: (text: string) => string },
): string {
  const shown = runnable(printable(message));
  const lines = [
    isDecision ? shown : wrapAfter("Error:", shown, { width: columns, style: (mark) => styles.bad(mark) }),
    ...details.map((detail) => `  ${runnable(printable(detail))}`),
    ...(hint ?? "")
      .split("\n")
      .filter((line) => line !== "")
      .flatMap((line) => wrapHint(printable(line), columns, runnable)),
  ];
  return `${lines.join("\n")}\n`;
}
