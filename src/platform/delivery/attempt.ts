import type { Dispatcher } from "undici";
import { LIMITS } from "../../contract/limits.ts";
import { SUSPENDED_MS } from "../../network/deadline.ts";
import { type FailureKind, failureKindOf, isOutOfDescriptors } from "../../network/failures.ts";
import { DnsError } from "./dns.ts";
import { BlockedTargetError } from "./target-guard.ts";
import type { Clock } from "../ports.ts";

const MAX_CHARACTERS = 300;

/** Codes of undici, besides those of Node.js. */
const UNDICI_CODES: Record<string, string> = {
  UND_ERR_SOCKET: "connection_closed",
  UND_ERR_HEADERS_OVERFLOW: "invalid_reply",
  // undici's message for a status below 100.
  ERR_ASSERTION: "invalid_reply",
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: "invalid_reply",
  UND_ERR_CONNECT_TIMEOUT: "timeout",
};

/** Names of the failure kinds in the API. */
const KINDS: Readonly<Record<FailureKind, string>> = {
  refused: "connection_refused",
  timeout: "timeout",
  reset: "connection_closed",
  dns: "dns",
  tls: "tls",
  unreachable: "unreachable",
};

const WORDS: Record<string, string> = {
  connection_refused: "no server listens on this address and port",
  dns: "the host name could not be resolved",
  connection_closed: "the connection closed before the response was complete",
  timeout: "the connection timed out",
  unreachable: "the address cannot be reached",
  invalid_reply: "the response is not valid HTTP",
};

/** Returns why an attempt got no complete response: a stable code, a colon, and a description. */
function describeAttemptError(error: Error): string {
  if (error instanceof BlockedTargetError) return `blocked_target: ${error.message}`;
  if (error instanceof DnsError) return `dns: ${error.message}`;
  const code = codeOf(error);
  return `${code}: ${WORDS[code] ?? error.message.slice(0, MAX_CHARACTERS)}`;
}

function codeOf(error: Error): string {
  const { code = "", name, message } = error as NodeJS.ErrnoException;
  // "bad upgrade": a 101 that was not requested.
  if (name === "HTTPParserError" || (code === "UND_ERR_SOCKET" && message.startsWith("bad "))) return "invalid_reply";
  const kind = failureKindOf(code);
  return UNDICI_CODES[code] ?? (kind === undefined ? "network" : KINDS[kind]);
}

/** Returns the failure of an attempt that exceeded its time limit. */
function describeTimeout(seconds: number): string {
  return `timeout: no complete response within ${seconds} s`;
}

/** The result of one POST. Without a complete response in time, `error` says why and there is no status. */
export interface AttemptResponse {
  statusCode: number | null;
  error: string | null;
  durationMs: number;
  /** The response's headers as a JSON object; null without any. */
  headers: string | null;
  /** The beginning of the response body as text; null if it had none. */
  excerpt: string | null;
  /** The wait that a 429 or 503 requested, in milliseconds. */
  retryAfter: number | undefined;
  /** True if no connection could be opened because this process has no file descriptor left. Nothing was sent then. */
  isUnsent: boolean;
}

const LENGTH_MISMATCH = "UND_ERR_RES_CONTENT_LENGTH_MISMATCH";

/**
 * One POST of a delivery. It may take 10 s until the last byte of the response, DNS and TLS included. Redirects are not
 * followed. It reads 16 KiB of the body, then drops the connection. It implements undici's handler interface, because a
 * promise and a stream for each attempt would cost a third of the rate.
 */
export class Attempt implements Dispatcher.DispatchHandler {
  readonly #clock: Clock;
  readonly #ended: (response: AttemptResponse) => void;
  readonly #startedAt: number;
  readonly #cancelDeadline: () => void;
  #controller: Dispatcher.DispatchController | undefined;
  #statusCode: number | undefined;
  #headers: string | null = null;
  #retryAfter: number | undefined;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #over = false;
  #isUnsent = false;

  constructor(clock: Clock, ended: (response: AttemptResponse) => void) {
    this.#clock = clock;
    this.#ended = ended;
    this.#startedAt = clock.elapsed();
    this.#cancelDeadline = clock.after(LIMITS.deliverySeconds * 1000, () => this.#expire());
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // The time limit passed while the connection was being established.
    if (this.#over) controller.abort(new Error("the attempt is over"));
  }

  onResponseStart(_controller: unknown, status: number, headers: Record<string, string | string[] | undefined>): void {
    if (status < 200) return;
    this.#statusCode = status;
    this.#headers = shownHeaders(headers);
    const header = headers["retry-after"];
    this.#retryAfter = readRetryAfter(status, Array.isArray(header) ? header[0] : header, this.#clock.now());
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#over) return;
    const available = LIMITS.deliveryExcerptBytes - this.#bytes;
    this.#bytes += chunk.length;
    // Copied, because a few bytes would otherwise retain the connection's whole buffer.
    this.#chunks.push(Buffer.from(chunk.subarray(0, available)));
    if (chunk.length <= available) return;
    this.#end(null);
    controller.abort(new Error("the rest of the response is not needed"));
  }

  onResponseEnd(): void {
    this.#end(null);
  }

  onResponseError(_controller: unknown, error: Error): void {
    if (this.#hasNoBody() && (error as { code?: unknown }).code === LENGTH_MISMATCH) return this.#end(null);
    this.#isUnsent = isOutOfDescriptors(error);
    this.#end(describeAttemptError(error));
  }

  /** These responses end with their headers, whatever their Content-Length (RFC 9112 6.3). */
  #hasNoBody(): boolean {
    return this.#statusCode === 204 || this.#statusCode === 304;
  }

  #expire(): void {
    this.#end(describeTimeout(LIMITS.deliverySeconds));
    this.#controller?.abort(new Error("the time limit has passed"));
  }

  #end(error: string | null): void {
    if (this.#over) return;
    this.#over = true;
    this.#cancelDeadline();
    const durationMs = Math.round(this.#clock.elapsed() - this.#startedAt);
    const failure = error ?? (isLate(durationMs) ? describeTimeout(LIMITS.deliverySeconds) : null);
    this.#ended({
      statusCode: failure === null ? (this.#statusCode ?? null) : null,
      error: failure,
      durationMs,
      headers: this.#headers,
      excerpt: this.#excerpt(),
      retryAfter: this.#retryAfter,
      isUnsent: this.#isUnsent,
    });
    this.#chunks = [];
  }

  #excerpt(): string | null {
    if (this.#bytes === 0) return null;
    const body = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks);
    if (this.#bytes <= LIMITS.deliveryExcerptBytes) return body.toString("utf8");
    // Streaming mode omits a character that the limit has cut in two.
    return new TextDecoder().decode(body, { stream: true });
  }
}

/**
 * A timer may fire slightly late, so the limit is checked here too. After a suspension the duration says nothing about
 * the endpoint, because its response may have waited as long.
 */
function isLate(durationMs: number): boolean {
  const limit = LIMITS.deliverySeconds * 1000;
  return durationMs > limit && durationMs <= limit + SUSPENDED_MS;
}

/** Returns the first headers as JSON, as many as fit. */
function shownHeaders(headers: Record<string, string | string[] | undefined>): string {
  const shown: Record<string, string> = {};
  let left: number = LIMITS.deliveryHeaderCharacters;
  for (const [name, value = ""] of Object.entries(headers)) {
    const text = Array.isArray(value) ? value.join(", ") : value;
    left -= name.length + text.length;
    if (left < 0) break;
    shown[name] = text;
  }
  return JSON.stringify(shown);
}

/** The statuses whose `Retry-After` is honored. */
const STATUSES: ReadonlySet<number> = new Set([429, 503]);

/**
 * Returns how long a receiver asks to wait, in milliseconds, from whole seconds or an HTTP date (RFC 9110, 10.2.3).
 * `now` is real time, which the date is compared with. Returns undefined for an absent or malformed value.
 */
export function readRetryAfter(status: number, header: string | undefined, now: number): number | undefined {
  if (header === undefined || !STATUSES.has(status)) return undefined;
  const text = header.trim();
  if (/^\d{1,12}$/.test(text)) return Number(text) * 1000;
  // All three date forms of HTTP begin with the name of a day. Date.parse alone would accept far more.
  if (!/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /.test(text)) return undefined;
  const date = Date.parse(text.endsWith("GMT") ? text : `${text} GMT`);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
