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
  /**
   * Called with the SignatureError of each rejected delivery, and by `nodeWebhook` with errors of the handler, too. Its own
   * errors are ignored. Without it, an error that is the receiver's own is printed on stderr. `verifyRequest` throws
   * instead.
   */
  onError?: ((error: unknown) => unknown) | undefined;
}

/** Reads a delivery's body, and holds at most `limit` bytes of a stream. Rejects with SignatureError. */
type ReadBody = (limit: number) => Payload | Promise<Payload>;

/** What an adapter does with deliveries. */
export interface Receiver {
  /** Reads and verifies one delivery. Rejects with SignatureError, or with the error of the `secrets` function. */
  receive: (header: SignatureHeaderValue, readBody: ReadBody) => Promise<WebhookEvent>;
  /**
   * Reports why a delivery is rejected, and resolves to the response. Rejects with an error of any other class: its text is
   * not for the sender.
   */
  reject: (error: unknown) => Promise<Problem>;
  /** Passes an error to `onError`, or prints it. Never rejects. */
  report: (error: unknown) => Promise<void>;
}

const DEFAULT_LIMIT = 1_048_576;

/**
 * Checks the options when the adapter is created, so that a missing secret is detected at startup instead of at the
 * first delivery.
 */
export function createReceiver({ secrets, tolerance, limit = DEFAULT_LIMIT, now, onError }: WebhookOptions): Receiver {
  if (typeof secrets !== "function") listSecrets(secrets);
  if (tolerance !== undefined) assertTolerance(tolerance);
  if (!Number.isSafeInteger(limit) || limit < 1) {
    throw new SignatureError("invalid_limit", "`limit` must be a whole number of bytes, 1 or more");
  }
  const receive: Receiver["receive"] = async (header, readBody) => {
    const payload = rawPayload(await readBody(limit));
    // A parser may have read it, with a limit of its own.
    const { length } = typeof payload === "string" ? new TextEncoder().encode(payload) : payload;
    if (length > limit) throw bodyTooLarge(limit);
    const current = typeof secrets === "function" ? await secrets() : secrets;
    const options = { payload, header, secrets: current, tolerance, now: now?.() };
    return hasSynchronousCrypto ? verify(options) : verifyAsync(options);
  };
  const report = async (error: unknown): Promise<void> => {
    try {
      await (onError ?? print)(error);
    } catch {
      // The sender gets its response all the same; in node:http, an unhandled rejection would end the server.
    }
  };
  const reject = async (error: unknown): Promise<Problem> => {
    if (!(error instanceof SignatureError)) throw error;
    // Anyone can send an invalid delivery, and would fill the log with it.
    if (onError !== undefined || error.status === 500) await report(error);
    return problemFor(error);
  };
  return { receive, reject, report };
}

function print(error: unknown): void {
  // oxlint-disable-next-line no-console -- The log of the application. Express prints errors of handlers there, too.
  console.error(error);
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

function problemFor(error: SignatureError): Problem {
  const { status } = error;
  const headers: Record<string, string> = { "content-type": "application/problem+json" };
  if (status === 405) headers["allow"] = "POST";
  const title = status === 500 ? "The receiver is misconfigured" : "The delivery was rejected";
  return { status, headers, body: JSON.stringify({ title, status, code: error.code, detail: error.message }) };
}
