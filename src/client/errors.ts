import type { ErrorCode, FieldError, Problem } from "../contract/errors.ts";

/** The platform answered with an error: the problem document (decisions 8), and how many attempts were made. */
export class ApiError extends Error {
  override name = "ApiError";
  readonly problem: Problem;
  readonly attempts: number;
  /** Seconds after which the platform would answer again, where it said so. */
  readonly retryAfter: number | undefined;

  constructor(problem: Problem, attempts: number, retryAfter?: number) {
    super(problem.detail);
    this.problem = problem;
    this.attempts = attempts;
    this.retryAfter = retryAfter;
  }

  get status(): number {
    return this.problem.status;
  }

  get code(): ErrorCode {
    return this.problem.code;
  }

  get requestId(): string {
    return this.problem.request_id;
  }

  get errors(): readonly FieldError[] {
    return this.problem.errors ?? [];
  }
}

/** Why no answer of the platform arrived. */
export type NetworkFailure =
  | "name_not_found"
  | "refused"
  | "unreachable_network"
  | "tls"
  | "proxy"
  | "proxy_sign_in"
  | "timed_out"
  | "connection_lost"
  | "not_the_platform";

/** The platform could not be reached, or something else answered in its place. */
export class NetworkError extends Error {
  override name = "NetworkError";
  readonly failure: NetworkFailure;
  readonly hint: string;
  /** True where the same request may succeed a moment later. */
  readonly passing: boolean;

  constructor(failure: NetworkFailure, message: string, hint: string, options: { passing: boolean; cause?: unknown }) {
    super(message, { cause: options.cause });
    this.failure = failure;
    this.hint = hint;
    this.passing = options.passing;
  }
}

/** A proxy on the way cannot be used. */
export class ProxyError extends NetworkError {
  override name = "ProxyError";
  /** For those who know Node's codes alone. */
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

/** The authorization server gave no tokens, or what came back cannot be trusted. */
export class AuthorizationError extends Error {
  override name = "AuthorizationError";
  /** The server's own code (RFC 6749 5.2, RFC 8628 3.5), or `invalid_answer`, `other_issuer`, `untrusted_address`. */
  readonly code: string;
  readonly hint: string | undefined;
  /** True where the same request may succeed a moment later. */
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
