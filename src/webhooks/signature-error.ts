/** Every code that a SignatureError can carry. Codes never change their meaning; messages may be reworded. */
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
  | "invalid_limit"
  // The request that an adapter reads.
  | "method_not_allowed"
  | "body_already_parsed"
  | "body_too_large"
  | "body_incomplete";

/** The one error of this library: `code` is for programs, `message` says which rule failed and what to do. */
export class SignatureError extends Error {
  override readonly name = "SignatureError";
  readonly code: SignatureErrorCode;

  constructor(code: SignatureErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}
