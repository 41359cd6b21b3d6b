import { isRecord, parseJson } from "./json.ts";

/** The error codes of the API, with HTTP status and title. Codes and statuses never change; titles may. */
export const ERRORS = {
  invalid_request: { status: 400, title: "Invalid request" },
  invalid_json: { status: 400, title: "Invalid JSON body" },
  invalid_cursor: { status: 400, title: "Invalid cursor" },
  invalid_header: { status: 400, title: "Invalid header" },
  invalid_idempotency_key: { status: 400, title: "Invalid Idempotency-Key" },
  unsupported_version: { status: 400, title: "Unsupported Service-Version" },
  missing_credential: { status: 401, title: "Missing credential" },
  invalid_credential: { status: 401, title: "Invalid credential" },
  revoked_credential: { status: 401, title: "Credential revoked" },
  expired_credential: { status: 401, title: "Credential expired" },
  invalid_signature: { status: 401, title: "Invalid signature" },
  insufficient_scope: { status: 403, title: "Insufficient scope" },
  ip_not_allowed: { status: 403, title: "Address not allowed" },
  session_required: { status: 403, title: "Dashboard session required" },
  owner_required: { status: 403, title: "Account owner required" },
  cross_site_request: { status: 403, title: "Cross-site request rejected" },
  exceeds_creator: { status: 403, title: "Key would exceed the rights of its creator" },
  sandbox_only: { status: 403, title: "Sandbox only" },
  not_found: { status: 404, title: "Resource not found" },
  method_not_allowed: { status: 405, title: "Method not allowed" },
  request_timeout: { status: 408, title: "Request timeout" },
  email_taken: { status: 409, title: "Email already in use" },
  already_exists: { status: 409, title: "Resource already exists" },
  invalid_transition: { status: 409, title: "Invalid status transition" },
  idempotency_in_flight: { status: 409, title: "Idempotent request in progress" },
  key_not_usable: { status: 409, title: "Key revoked or expired" },
  app_is_public: { status: 409, title: "Public apps have no secret" },
  endpoint_limit: { status: 409, title: "Endpoint limit reached" },
  endpoint_disabled: { status: 409, title: "Endpoint disabled" },
  endpoint_deleted: { status: 409, title: "Endpoint deleted" },
  snapshot_limit: { status: 409, title: "Snapshot limit reached" },
  fault_limit: { status: 409, title: "Fault limit reached" },
  test_clock_advancing: { status: 409, title: "Test clock advancing" },
  delivery_not_cancelable: { status: 409, title: "Delivery not cancelable" },
  delivery_not_retryable: { status: 409, title: "Delivery not retryable" },
  event_expired: { status: 410, title: "Event expired" },
  body_too_large: { status: 413, title: "Body too large" },
  uri_too_long: { status: 414, title: "URL too long" },
  unsupported_media_type: { status: 415, title: "Unsupported media type" },
  misdirected_request: { status: 421, title: "Misdirected request" },
  idempotency_key_reused: { status: 422, title: "Idempotency-Key reused" },
  upgrade_required: { status: 426, title: "Upgrade required" },
  rate_limited: { status: 429, title: "Too many requests" },
  connection_limit: { status: 429, title: "Connection limit reached" },
  headers_too_large: { status: 431, title: "Headers too large" },
  event_damaged: { status: 500, title: "Event damaged" },
  internal_error: { status: 500, title: "Internal error" },
  bad_gateway: { status: 502, title: "Bad gateway" },
  unavailable: { status: 503, title: "Service unavailable" },
} as const satisfies Record<string, { status: number; title: string }>;

export type ErrorCode = keyof typeof ERRORS;

export const PROBLEM_MEDIA_TYPE = "application/problem+json";

/** Returns what problem details (RFC 9457) say, in one sentence; undefined for any other text. */
export function problemDetail(body: string): string | undefined {
  const problem = body.trimStart().startsWith("{") ? parseJson(body) : undefined;
  if (!isRecord(problem)) return undefined;
  const { type, title, status, detail } = problem;
  if (typeof title !== "string" || (typeof type !== "string" && typeof status !== "number")) return undefined;
  return typeof detail === "string" && detail.trim() !== "" ? detail : title;
}
