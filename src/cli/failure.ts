import { ApiError, NetworkError, UnsafeRequestError } from "../client/errors.ts";
import { type ExitCode, EXIT_CODES, InterruptedError, UserError } from "./errors.ts";
import { ISSUES } from "./links.ts";

/** What there is to say about what failed, and the code that a command ends with. */
export interface Failure {
  message: string;
  details: readonly string[];
  hint: string | undefined;
  exitCode: number;
  /** The error as `--json` prints it. */
  problem: object;
}

/** Puts whatever was thrown into words. */
export function failureOf(error: unknown): Failure {
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

function ownFailure(
  message: string,
  { hint, code, exitCode }: { hint: string | undefined; code: string; exitCode: ExitCode },
): Failure {
  const problem = { type: "about:blank", title: message, detail: hint ?? message, code, exit_code: exitCode };
  return { message, details: [], hint, exitCode, problem };
}

function apiFailure(error: ApiError): Failure {
  // Where one field is wrong, the message often says all there is to say.
  const unsaid = error.errors.filter(({ code, detail }) => code !== "taken" && !error.message.includes(detail));
  const fields = unsaid.map(({ pointer, detail }) => `${pointer.replace(/^[/?]/, "").replaceAll("/", ".")}: ${detail}`);
  const about = error.requestId === "" ? [] : [`${error.status} ${error.code}, request ${error.requestId}`];
  return {
    message: error.message,
    details: [...fields, ...about],
    hint: hintFor(error),
    exitCode: apiExitCode(error.status),
    problem: error.problem,
  };
}

/** What a command ends with when the API refuses with this status. */
export function apiExitCode(status: number): ExitCode {
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
