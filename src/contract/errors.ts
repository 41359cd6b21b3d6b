/**
 * Every error code of the API, with its HTTP status and title: the only table. A code's name and status
 * never change; the text beside it may.
 */
export const ERRORS = {
  invalid_request: { status: 400, title: "The request is not valid" },
  invalid_json: { status: 400, title: "The body is not acceptable JSON" },
  invalid_cursor: { status: 400, title: "The cursor does not belong to this list" },
  invalid_header: { status: 400, title: "A header is not valid" },
  invalid_idempotency_key: { status: 400, title: "The Idempotency-Key is not valid" },
  unsupported_version: { status: 400, title: "The Service-Version is not supported" },
  missing_credential: { status: 401, title: "No credential was sent" },
  invalid_credential: { status: 401, title: "The credential is not valid" },
  revoked_credential: { status: 401, title: "The credential was revoked" },
  expired_credential: { status: 401, title: "The credential has expired" },
  invalid_signature: { status: 401, title: "The report is not signed by a known key" },
  insufficient_scope: { status: 403, title: "The credential lacks a scope" },
  ip_not_allowed: { status: 403, title: "The credential may not be used from this address" },
  session_required: { status: 403, title: "This takes a person who is signed in" },
  owner_required: { status: 403, title: "This takes an owner of the account" },
  cross_site_request: { status: 403, title: "The request came from another site" },
  exceeds_maker: { status: 403, title: "A credential cannot make a key that may do more than itself" },
  sandbox_only: { status: 403, title: "This works in the sandbox only" },
  not_found: { status: 404, title: "Nothing is here" },
  method_not_allowed: { status: 405, title: "The method is not allowed here" },
  request_timeout: { status: 408, title: "The request did not arrive in time" },
  email_taken: { status: 409, title: "The email address is taken" },
  invalid_transition: { status: 409, title: "The resource cannot change to that status" },
  idempotency_in_flight: { status: 409, title: "The first request with this Idempotency-Key still runs" },
  key_not_usable: { status: 409, title: "The key is revoked or has expired" },
  app_is_public: { status: 409, title: "A public app has no secret" },
  endpoint_limit: { status: 409, title: "The environment has as many endpoints as it may" },
  endpoint_disabled: { status: 409, title: "The endpoint is disabled" },
  endpoint_deleted: { status: 409, title: "The endpoint was deleted" },
  test_clock_advancing: { status: 409, title: "The test clock is being moved" },
  delivery_not_retryable: { status: 409, title: "The delivery cannot be retried" },
  event_expired: { status: 410, title: "The event is older than 30 days" },
  body_too_large: { status: 413, title: "The body is too large" },
  uri_too_long: { status: 414, title: "The URL is too long" },
  unsupported_media_type: { status: 415, title: "The body is not JSON" },
  misdirected_request: { status: 421, title: "The Host is not one of this server" },
  idempotency_key_reused: { status: 422, title: "The Idempotency-Key was used for another request" },
  rate_limited: { status: 429, title: "Too many requests" },
  connection_limit: { status: 429, title: "The environment has as many connections open as it may" },
  headers_too_large: { status: 431, title: "The headers are too large" },
  internal_error: { status: 500, title: "The platform failed" },
  unavailable: { status: 503, title: "The platform is not available" },
} as const satisfies Record<string, { status: number; title: string }>;

export type ErrorCode = keyof typeof ERRORS;

export type { FieldError, Problem } from "./schemas/problem.ts";

export const PROBLEM_MEDIA_TYPE = "application/problem+json";
