import { serveCommand } from "../contract/shell-command.ts";
import type { ErrorCode } from "../contract/errors.ts";
import type { FieldError, Problem } from "../contract/schemas/problem.ts";
import { isLoopback } from "../network/connect-options.ts";
import { failureKindOf } from "../network/failures.ts";

/** An error response of the platform: the problem details, and how many attempts were made. */
export class ApiError extends Error {
  override name = "ApiError";
  readonly problem: Problem;
  readonly status: number;
  readonly code: ErrorCode;
  readonly requestId: string;
  readonly errors: readonly FieldError[];
  readonly attempts: number;
  /** Seconds to wait before the next request, if the platform requests it. */
  readonly retryAfter: number | undefined;
  /** Requests per second that the platform allows, if there were more. */
  readonly rateLimit: number | undefined;
  /** What to do about it, if that depends on the credential. */
  hint: string | undefined;
  /** Returns the name of a field, given its pointer. A command that sends it by a flag names the flag. */
  nameOf = (pointer: string): string => pointer.replace(/^[/?]/, "").replaceAll("/", ".");

  constructor(problem: Problem, attempts: number, retryAfter?: number, rateLimit?: number) {
    super(problem.detail);
    this.problem = problem;
    this.status = problem.status;
    this.code = problem.code;
    this.requestId = problem.request_id;
    this.errors = problem.errors ?? [];
    this.attempts = attempts;
    this.retryAfter = retryAfter;
    this.rateLimit = rateLimit;
  }
}

/** Why no response of the platform arrived. */
type NetworkFailure =
  | "name_not_found"
  | "refused"
  | "unreachable_network"
  | "tls"
  | "proxy"
  | "proxy_sign_in"
  | "timed_out"
  | "connection_lost"
  | "not_the_platform";

/** The platform is unreachable, or another server responded. */
export class NetworkError extends Error {
  override name = "NetworkError";
  readonly failure: NetworkFailure;
  readonly hint: string;
  /** True if the same request may succeed later. */
  readonly passing: boolean;

  constructor(failure: NetworkFailure, message: string, hint: string, options: { passing: boolean; cause?: unknown }) {
    super(message, { cause: options.cause });
    this.failure = failure;
    this.hint = hint;
    this.passing = options.passing;
  }
}

/** Waits for work with requests. If one fails, with a response or without, returns what `instead` makes of the error. */
export async function orIfFailed<Result, Other>(
  work: Promise<Result>,
  instead: (failure: ApiError | NetworkError) => Other,
): Promise<Result | Other> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof ApiError || error instanceof NetworkError) return instead(error);
    throw error;
  }
}

/** A proxy cannot be used. */
export class ProxyError extends NetworkError {
  override name = "ProxyError";
  /** The code for callers that check those of Node.js. */
  readonly code = "ERR_PROXY";
}

/** A request that must not leave this machine, such as a credential over plain http. */
export class UnsafeRequestError extends Error {
  override name = "UnsafeRequestError";
  readonly hint: string;

  constructor(message: string, hint: string) {
    super(message);
    this.hint = hint;
  }
}

/** The authorization server issued no tokens, or its response cannot be trusted. */
export class AuthorizationError extends Error {
  override name = "AuthorizationError";
  /** The server's own code (RFC 6749 5.2, RFC 8628 3.5), or `invalid_answer`, `other_issuer`, `untrusted_address`. */
  readonly code: string;
  readonly hint: string | undefined;
  /** True if the same request may succeed later. */
  readonly passing: boolean;

  constructor(
    code: string,
    message: string,
    { hint, passing = false, cause }: { hint?: string; passing?: boolean; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.code = code;
    this.hint = hint;
    this.passing = passing;
  }
}

/** Error code of the transport's timeout. */
export const TIME_LIMIT_CODE = "TIME_LIMIT";

/** Describes a network failure: what happened, and what to do about it. `timeLimit` is in seconds. */
export function networkErrorOf(error: unknown, url: URL, timeLimit?: number): NetworkError {
  if (error instanceof NetworkError) return error;
  const cause = error as NodeJS.ErrnoException;
  const code = cause.code ?? "";
  const kind = failureKindOf(cause);
  const at = url.host;
  const described = (failure: NetworkFailure, message: string, hint: string, passing = false): NetworkError =>
    new NetworkError(failure, message, hint, { passing, cause });
  if (kind === "dns") {
    const hint = "Check the base URL and your network.";
    return described("name_not_found", `Host ${url.hostname} not found`, hint, code === "EAI_AGAIN");
  }
  if (kind === "connection_refused") {
    const hint = isLoopback(url.hostname)
      ? `Start the platform with \`${serveCommand(url)}\`, or choose another one with --base-url.`
      : "Check the port of the base URL, and that the platform is running.";
    return described("refused", `Connection refused: nothing listens on ${at}`, hint, true);
  }
  if (kind === "unreachable") {
    return described("unreachable_network", `No network route to ${at}`, "Check your connection or VPN.");
  }
  if (kind === "tls" && NO_TLS.test(cause.message)) {
    return described("tls", `${at} speaks plain http, not https`, "Use http:// in the base URL.");
  }
  if (kind === "tls")
    return described("tls", `The TLS certificate of ${at} is not trusted (${cause.code})`, OWN_AUTHORITY);
  if (code === TIME_LIMIT_CODE || kind === "timeout") {
    const time = timeLimit === undefined ? "in time" : `within ${timeLimit < 1 ? timeLimit : Math.ceil(timeLimit)} s`;
    return described("timed_out", `${at} did not respond ${time}`, "Try again, or run `service status`.", true);
  }
  if (code.startsWith("HPE_")) {
    return described("not_the_platform", `${at} does not speak HTTP`, "Check the base URL; it may need https.");
  }
  const message = `The connection to ${at} was lost (${code || cause.message})`;
  return described("connection_lost", message, "Try again.", true);
}

const NO_TLS = /wrong version number|packet length too long/i;
const OWN_AUTHORITY =
  "If your network has its own certificate authority, set NODE_EXTRA_CA_CERTS to its file, or NODE_USE_SYSTEM_CA=1 if the system trusts it.";
