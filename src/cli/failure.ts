import { ApiError, NetworkError, UnsafeRequestError } from "../client/errors.ts";
import { type ExitCode, EXIT_CODES, InterruptedError, UserError } from "./errors.ts";

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
  return ownFailure(`Unexpected error: ${(error as Error)?.message ?? String(error)}`, {
    hint: `Run the command again with --debug${__ISSUES_URL__ === "" ? "." : ` and report the output: ${__ISSUES_URL__}`}`,
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
  if (status === 401) return "Sign in with `service login`, or set SERVICE_API_KEY to a valid key.";
  if (code === "insufficient_scope") return "Use a key with that scope. To list the scopes of this one: service whoami";
  if (code === "email_taken" && typeof problem["existing"] === "string") {
    return `To see the existing customer: service customers get ${problem["existing"]}`;
  }
  if (code === "unsupported_version") return "The CLI and platform versions are incompatible. Update the older one.";
  if (status === 429) {
    const wait = retryAfter === undefined ? "in a moment" : `in ${retryAfter} s`;
    return `Rate limited after ${attempts} attempts. Try again ${wait}.`;
  }
  if (status === 404 && attempts > 1) return "An earlier attempt whose response was lost may have deleted it.";
  if (status >= 500) return "This is a platform error. Look up the request ID in the platform's log.";
  return undefined;
}
