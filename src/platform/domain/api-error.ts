import { ERRORS, type ErrorCode, type FieldError } from "../../contract/errors.ts";
import type { Scope } from "../../contract/scopes.ts";

/** How a credential is to be sent (RFC 6750 3). */
export const CHALLENGE = 'Bearer realm="service"';

/** A refusal that the caller is told about: a code of the contract, a sentence, and what the code adds. */
export class ApiError extends Error {
  override name = "ApiError";
  readonly code: ErrorCode;
  readonly status: number;
  /** Further members of the problem document. */
  readonly members: Record<string, unknown>;
  /** Reply headers that go with the refusal, such as `Retry-After`. */
  readonly headers: Record<string, string>;

  constructor(
    code: ErrorCode,
    detail: string,
    options: { members?: Record<string, unknown>; headers?: Record<string, string>; cause?: unknown } = {},
  ) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.status = ERRORS[code].status;
    this.members = options.members ?? {};
    this.headers = options.headers ?? {};
  }
}

const MAX_ECHO_LENGTH = 200;

/** Returns a caller's text as an error may repeat it: at most 200 characters. */
export function shorten(text: string): string {
  return text.length > MAX_ECHO_LENGTH ? `${text.slice(0, MAX_ECHO_LENGTH)}…` : text;
}

/** A request with invalid fields, each named. */
export function invalidFields(errors: FieldError[]): ApiError {
  const first = errors[0]!;
  const place = first.pointer === "" ? "The body" : `${first.pointer.replace(/^\//, "").replaceAll("/", ".")}:`;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more, see errors)` : "";
  return new ApiError("invalid_request", `${place} ${first.detail}${more}`, { members: { errors } });
}

/** The 403 for a credential that lacks scopes, one at least. */
export function insufficientScope(detail: string, lacking: readonly Scope[]): ApiError {
  return new ApiError("insufficient_scope", detail, {
    members: { required_scope: lacking[0] },
    headers: { "WWW-Authenticate": `${CHALLENGE}, error="insufficient_scope", scope="${lacking.join(" ")}"` },
  });
}
