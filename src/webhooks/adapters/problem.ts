import { SignatureError, type SignatureErrorCode } from "../signature-error.ts";

/** A refusal as it goes over the wire: `application/problem+json` (RFC 9457) with `code` and `detail`. */
export interface Problem {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** The sender is at fault (400) unless a code is listed here; 500 are the receiver's own faults. */
const STATUS: Partial<Record<SignatureErrorCode, number>> = {
  method_not_allowed: 405,
  body_too_large: 413,
  body_already_parsed: 500,
  payload_not_raw: 500,
  no_secrets: 500,
  empty_secret: 500,
  invalid_secret: 500,
  invalid_now: 500,
};

/** The answer to a delivery that was refused. What else went wrong is thrown again: it is not the sender's to read. */
export function problemFor(error: unknown): Problem {
  if (!(error instanceof SignatureError)) throw error;
  const status = STATUS[error.code] ?? 400;
  const headers: Record<string, string> = { "content-type": "application/problem+json" };
  if (status === 405) headers["allow"] = "POST";
  const title = status === 500 ? "The receiver is not set up correctly" : "The delivery was refused";
  return { status, headers, body: JSON.stringify({ title, status, code: error.code, detail: error.message }) };
}

/** Throws SignatureError `method_not_allowed` for anything but POST. */
export function assertPost(method: string | undefined): void {
  if (method !== "POST") {
    throw new SignatureError("method_not_allowed", "deliveries are POST requests: send this one with POST");
  }
}
