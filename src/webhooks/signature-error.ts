/** Every `code` of a SignatureError. Codes keep their meaning across releases; messages may be reworded. */
export type SignatureErrorCode =
  // The header.
  | "header_missing"
  | "header_not_text"
  | "header_too_long"
  | "header_malformed"
  | "timestamp_missing"
  | "timestamp_repeated"
  | "timestamp_malformed"
  | "signature_missing"
  | "signature_malformed"
  | "too_many_signatures"
  // The delivery.
  | "signature_mismatch"
  | "timestamp_too_old"
  | "timestamp_in_future"
  | "payload_not_json"
  | "payload_not_event"
  // The arguments.
  | "no_secrets"
  | "empty_secret"
  | "invalid_secret"
  | "too_many_secrets"
  | "payload_not_raw"
  | "invalid_timestamp"
  | "invalid_tolerance"
  | "invalid_now"
  | "invalid_id"
  | "invalid_scheme"
  | "invalid_limit"
  // The runtime.
  | "crypto_unavailable"
  // The request that an adapter reads.
  | "method_not_allowed"
  | "body_already_parsed"
  | "body_too_large"
  | "body_incomplete";

/** Codes of the receiver's own faults: no sender can cause them. */
const OWN_FAULT = /^(invalid_|no_secrets|empty_secret|too_many_secrets|payload_not_raw|body_already_parsed|crypto_)/;

function statusOf(code: SignatureErrorCode): number {
  if (code === "method_not_allowed") return 405;
  if (code === "body_too_large") return 413;
  return OWN_FAULT.test(code) ? 500 : 400;
}

/**
 * The only error class of this library: `code` is for programs, `message` names the rule that failed and the fix. Messages
 * contain no secret and no MAC. `cause` is the underlying error, if there is one. Frameworks respond with `statusCode` or
 * `status`, whichever they look for, so that a forged delivery that no one catches gets 400.
 */
export class SignatureError extends Error {
  override readonly name = "SignatureError";
  readonly code: SignatureErrorCode;
  readonly statusCode: number;
  readonly status: number;

  /** Creates an error with a stable `code`. */
  constructor(code: SignatureErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
    this.statusCode = this.status = statusOf(code);
  }
}
