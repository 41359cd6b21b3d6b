import { DELIVERY_USER_AGENT, HEADERS } from "../contract/headers.ts";
import { LIMITS } from "../contract/limits.ts";
import { connectOptions, openSocket } from "../network/connect-options.ts";
import { describeFailure, isOutOfDescriptors } from "../network/failures.ts";
import { Poster, type PostResult, TimeLimitError } from "../network/poster.ts";
import { readRetryAfter } from "../network/retry-after.ts";
import type { ResponseHeaders } from "../network/response-parser.ts";
import type { Clock } from "../network/clock.ts";
import { describeForwardError, describeTimeout, type ForwardFailure, type HostKind } from "./forward-failure.ts";

export interface ForwarderOptions {
  url: URL;
  clock: Clock;
  /** Additional headers, a flat list of names and values. */
  headers?: readonly string[] | undefined;
  /** Accepts any certificate of the receiver. */
  skipVerify?: boolean | undefined;
  /** Time limit from the connect to the last byte of the response, in milliseconds (default: that of a delivery). */
  timeoutMs?: number | undefined;
  /** Where this process runs (default: `plain`). */
  host?: HostKind | undefined;
}

export interface ForwardResult {
  /** The receiver's status; absent without a complete response. */
  status?: number;
  failure?: ForwardFailure;
  /** The failure as the platform records it. */
  error?: string;
  /** True if this machine had no file descriptor left for a connection, so that nothing was sent. */
  isUnsent?: boolean;
  durationMs: number;
  /** The start of the response body, at most 16 KiB, as text. */
  excerpt: string;
  /** The response's headers, if it had begun. */
  responseHeaders?: ResponseHeaders | undefined;
  /** Target of a redirect, which is not followed. */
  location?: string;
  /** `Retry-After` of a 429 or 503. */
  retryAfterMs?: number;
}

/** The content of a delivery's headers. */
export interface Envelope {
  id: string;
  signature: string;
  attempt: number;
}

export interface Outgoing {
  /** A flat list of names and values. */
  headers: readonly string[];
  /** The body, sent as it is. */
  body: Uint8Array;
}

const UNSAFE = /[^\u0021-\u007e]/;
const UNSAFE_ALL = new RegExp(UNSAFE, "g");

/** POSTs events to one receiver. The caller limits how many at once. */
export class Forwarder {
  readonly #options: ForwarderOptions;
  readonly #headers: readonly string[];
  readonly #timeoutMs: number;
  readonly #poster: Poster;

  constructor(options: ForwarderOptions) {
    const { clock, headers = [], skipVerify = false, timeoutMs = LIMITS.deliverySeconds * 1000 } = options;
    this.#options = options;
    const own = { "Content-Type": "application/json", "User-Agent": DELIVERY_USER_AGENT, [HEADERS.relay]: "1" };
    this.#headers = [...Object.entries(own).flat(), ...headers];
    this.#timeoutMs = timeoutMs;
    this.#poster = new Poster({
      connect: (url) => openSocket(url, connectOptions(url.hostname, timeoutMs), { rejectUnauthorized: !skipVerify }),
      timeoutMs,
      excerptBytes: LIMITS.deliveryExcerptBytes,
      clock,
    });
  }

  /** Returns all headers of a delivery, a flat list of names and values. */
  headersOf({ id, signature, attempt }: Envelope): string[] {
    const headers = this.#headers.slice();
    // IDs are foreign text, which must not end the header.
    const safeId = UNSAFE.test(id) ? id.replaceAll(UNSAFE_ALL, "?") : id;
    headers.push(HEADERS.signature, signature, HEADERS.eventId, safeId, HEADERS.deliveryAttempt, String(attempt));
    return headers;
  }

  /** Sends a delivery; calls `ended` exactly once, whatever happens. */
  forward({ headers, body }: Outgoing, ended: (result: ForwardResult) => void): void {
    this.#poster.post(this.#options.url, headers, body, (result) => ended(this.#resultOf(result)));
  }

  close(): void {
    this.#poster.close();
  }

  #resultOf({ status, error, durationMs, headers, excerpt }: PostResult): ForwardResult {
    if (status === undefined) {
      const failure = this.#failureOf(error!);
      const recorded = describeFailure(error!, this.#timeoutMs);
      return { failure, error: recorded, isUnsent: isOutOfDescriptors(error), durationMs, excerpt };
    }
    const result: ForwardResult = { status, durationMs, excerpt, responseHeaders: headers };
    const location = headers?.get("location");
    if (location !== undefined) result.location = location;
    const retryAfter = readRetryAfter(status, headers?.get("retry-after"), this.#options.clock.now());
    if (retryAfter !== undefined) result.retryAfterMs = retryAfter;
    return result;
  }

  #failureOf(error: Error): ForwardFailure {
    const { url, host = "plain" } = this.#options;
    if (error instanceof TimeLimitError) return describeTimeout(this.#timeoutMs, error.isResponding, url, host);
    return describeForwardError(error, url, host);
  }
}
