import { ApiError, NetworkError, UnsafeRequestError } from "../client/errors.ts";
import { processSurroundings } from "./context.ts";
import { type ExitCode, EXIT_CODES, InterruptedError, SilentExit, UserError } from "./errors.ts";
import { compactJson } from "./terminal/json.ts";
import { printable } from "./terminal/printable.ts";
import { colorLevel, loadStyles, type Styles } from "./terminal/styles.ts";

const ISSUES = "https://github.com/service-cli/service-cli/issues";

/** What a failed command says on stderr, and the code that it ends with. */
interface Failure {
  message: string;
  details: readonly string[];
  hint: string | undefined;
  exitCode: number;
  /** The error as `--json` prints it. */
  problem: object;
}

/** Says on stderr why the command failed, as words or as a problem document, and gives its exit code. */
export async function reportFailure(
  error: unknown,
  args: readonly string[],
  controller: AbortController,
): Promise<number> {
  if (error instanceof SilentExit) return error.exitCode;
  const { stderr, env } = processSurroundings(controller);
  // The flags themselves may be what is wrong, so they are looked for in the plain command line.
  const own = args.includes("--") ? args.slice(0, args.indexOf("--")) : args;
  const styles = await loadStyles(colorLevel({ flag: !own.includes("--no-color"), env, stream: stderr }));
  const failure = failureOf(error);
  stderr.write(renderFailure(failure, own.includes("--json"), styles));
  const debug = own.includes("--debug") || Boolean(env["SERVICE_DEBUG"]);
  if (debug && error instanceof Error) stderr.write(`${styles.dim(stackOf(error))}\n`);
  return failure.exitCode;
}

/** The stack with those of its causes. */
function stackOf(error: Error): string {
  const own = error.stack ?? error.message;
  return error.cause instanceof Error ? `${own}\nCaused by: ${stackOf(error.cause)}` : own;
}

function failureOf(error: unknown): Failure {
  if (error instanceof ApiError) return apiFailure(error);
  if (error instanceof NetworkError) {
    return ownFailure(error.message, { hint: error.hint, code: error.failure, exitCode: EXIT_CODES.unreachable });
  }
  if (error instanceof UnsafeRequestError) {
    return ownFailure(error.message, { hint: error.hint, code: "unsafe_request", exitCode: EXIT_CODES.usage });
  }
  if (error instanceof InterruptedError) {
    return ownFailure(error.message, { hint: undefined, code: "interrupted", exitCode: error.exitCode });
  }
  if (error instanceof UserError) return ownFailure(error.message, error);
  return ownFailure(`Something went wrong inside the program: ${(error as Error)?.message ?? String(error)}`, {
    hint: `Run it again with --debug and report what it prints: ${ISSUES}`,
    code: "defect",
    exitCode: EXIT_CODES.failed,
  });
}

/** The failure as lines for stderr. The last line is the one that helps most. */
function renderFailure(failure: Failure, json: boolean, styles: Styles): string {
  if (json) return `${compactJson(failure.problem)}\n`;
  const { message, details, hint, exitCode } = failure;
  const lines = [
    exitCode === EXIT_CODES.interrupted ? message : `${styles.bad("Error:")} ${printable(message)}`,
    ...details.map((detail) => `  ${printable(detail)}`),
    ...(hint ?? "")
      .split("\n")
      .filter((line) => line !== "")
      .map(printable),
  ];
  return `${lines.join("\n")}\n`;
}

function ownFailure(
  message: string,
  { hint, code, exitCode }: { hint: string | undefined; code: string; exitCode: ExitCode },
): Failure {
  const problem = { type: "about:blank", title: message, detail: hint ?? message, code, exit_code: exitCode };
  return { message, details: [], hint, exitCode, problem };
}

function apiFailure(error: ApiError): Failure {
  // Where one field is wrong, the message often says all there is to say.
  const unsaid = error.errors.filter(({ detail }) => !error.message.includes(detail));
  const fields = unsaid.map(({ pointer, detail }) => `${pointer.replace(/^[/?]/, "").replaceAll("/", ".")}: ${detail}`);
  const about = error.requestId === "" ? [] : [`${error.status} ${error.code}, request ${error.requestId}`];
  return {
    message: error.message,
    details: [...fields, ...about],
    hint: hintFor(error),
    exitCode: exitCodeFor(error),
    problem: error.problem,
  };
}

function exitCodeFor({ status }: ApiError): ExitCode {
  if (status === 401) return EXIT_CODES.notSignedIn;
  if (status === 403) return EXIT_CODES.notAllowed;
  if (status === 404) return EXIT_CODES.notFound;
  if (status === 429) return EXIT_CODES.rateLimited;
  return EXIT_CODES.failed;
}

function hintFor({ status, code, attempts, retryAfter, problem }: ApiError): string | undefined {
  if (status === 401) return "Sign in again with `service login`, or give another key in SERVICE_API_KEY.";
  if (code === "insufficient_scope") return "Use a key with that scope; `service whoami` lists those of this one.";
  if (code === "email_taken" && typeof problem["existing"] === "string") {
    return `See who has it: service customers get ${problem["existing"]}`;
  }
  if (code === "unsupported_version") return "Platform and program are of different age: update the older one.";
  if (status === 429) {
    const wait = retryAfter === undefined ? "in a moment" : `in ${retryAfter} s`;
    return `Gave up after ${attempts} attempts; try again ${wait}.`;
  }
  if (status === 404 && attempts > 1) return "An earlier attempt whose answer was lost may have deleted it.";
  if (status >= 500) return "The fault is the platform's; its log has the request id.";
  return undefined;
}
