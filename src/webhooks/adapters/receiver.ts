import type { WebhookEvent } from "../event.ts";
import { hasSynchronousCrypto } from "../mac.ts";
import {
  assertTolerance,
  listSecrets,
  type Payload,
  rawPayload,
  type Secrets,
  verify,
  verifyAsync,
} from "../signature.ts";
import { SignatureError } from "../signature-error.ts";
import type { SignatureHeaderValue } from "../signature-header.ts";

/** Options of every adapter. */
export interface WebhookOptions {
  /** The endpoint's secret or secrets, or a function that each delivery calls for them, for rotation without a restart. */
  secrets: Secrets | (() => Secrets | Promise<Secrets>);
  /** How many seconds `t` may differ from the clock, in either direction (default: 300). */
  tolerance?: number | undefined;
  /** Maximum size of a body, in bytes (default: 1 MiB). */
  limit?: number | undefined;
  /** The clock, in Unix seconds (default: the system's). */
  now?: (() => number) | undefined;
}

/** Reads a delivery's body, and holds at most `limit` bytes of a stream. Rejects with SignatureError. */
type ReadBody = (limit: number) => Payload | Promise<Payload>;

/** Reads and verifies one delivery. Rejects with SignatureError, or with the error of the `secrets` function. */
export type Receive = (header: SignatureHeaderValue, readBody: ReadBody) => Promise<WebhookEvent>;

const DEFAULT_LIMIT = 1_048_576;

/**
 * Checks the options when the adapter is created, so that a missing secret is detected at startup instead of at the
 * first delivery.
 */
export function createReceiver({ secrets, tolerance, limit = DEFAULT_LIMIT, now }: WebhookOptions): Receive {
  if (typeof secrets !== "function") listSecrets(secrets);
  if (tolerance !== undefined) assertTolerance(tolerance);
  if (!Number.isSafeInteger(limit) || limit < 1) {
    throw new SignatureError("invalid_limit", "`limit` must be a whole number of bytes, 1 or more");
  }
  return async (header, readBody) => {
    const payload = rawPayload(await readBody(limit));
    // A parser may have read it, with a limit of its own.
    const { length } = typeof payload === "string" ? new TextEncoder().encode(payload) : payload;
    if (length > limit) throw bodyTooLarge(limit);
    const current = typeof secrets === "function" ? await secrets() : secrets;
    const options = { payload, header, secrets: current, tolerance, now: now?.() };
    return hasSynchronousCrypto ? verify(options) : verifyAsync(options);
  };
}

/** Throws SignatureError `method_not_allowed` for any method but POST. */
export function assertPost(method: string | undefined): void {
  if (method !== "POST") {
    throw new SignatureError("method_not_allowed", "deliveries are POST requests: send this request with POST");
  }
}

/** Creates the error of a body that exceeds the limit. */
export function bodyTooLarge(limit: number): SignatureError {
  return new SignatureError("body_too_large", `the body is larger than the limit of ${limit} bytes`);
}

/** The response to a rejected delivery: `application/problem+json` (RFC 9457) with `code` and `detail`. */
export interface Problem {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** Returns the response to a rejected delivery. Rethrows errors of any other class: their text is not for the sender. */
export function problemFor(error: unknown): Problem {
  if (!(error instanceof SignatureError)) throw error;
  const { status } = error;
  const headers: Record<string, string> = { "content-type": "application/problem+json" };
  if (status === 405) headers["allow"] = "POST";
  const title = status === 500 ? "The receiver is misconfigured" : "The delivery was rejected";
  return { status, headers, body: JSON.stringify({ title, status, code: error.code, detail: error.message }) };
}
