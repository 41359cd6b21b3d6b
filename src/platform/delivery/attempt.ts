import type { Dispatcher } from "undici";
import { SUSPENDED_MS } from "../../network/deadline.ts";
import { isOutOfDescriptors } from "../../network/descriptors.ts";
import { LIMITS } from "../../contract/limits.ts";
import type { Clock } from "../ports.ts";
import { type FailureKind, failureKindOf } from "../../network/failures.ts";
import { DnsError } from "./dns.ts";
import { BlockedTargetError } from "./target-guard.ts";

const MAX_CHARACTERS = 300;

/** Codes of undici, besides those of Node.js. */
const UNDICI_CODES: Record<string, string> = {
  UND_ERR_SOCKET: "connection_closed",
  UND_ERR_HEADERS_OVERFLOW: "invalid_reply",
  // undici's word for a status below 100.
  ERR_ASSERTION: "invalid_reply",
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: "invalid_reply",
  UND_ERR_CONNECT_TIMEOUT: "timeout",
};

/** How the API names the kinds of failures. */
const KINDS: Readonly<Record<FailureKind, string>> = {
  refused: "connection_refused",
  timeout: "timeout",
  reset: "connection_closed",
  dns: "dns",
  tls: "tls",
  unreachable: "unreachable",
};

const WORDS: Record<string, string> = {
  connection_refused: "nothing accepts connections there",
  dns: "the host name could not be resolved",
  connection_closed: "the connection was closed before the reply was complete",
  timeout: "no connection within the time limit",
  unreachable: "the address cannot be reached",
  invalid_reply: "the response is not valid HTTP",
};

/** Why an attempt got no complete reply: a stable code, a colon, and words. */
function describeAttemptError(error: Error): string {
  if (error instanceof BlockedTargetError) return `blocked_target: ${error.message}`;
  if (error instanceof DnsError) return `dns: ${error.message}`;
  const code = codeOf(error);
  return `${code}: ${WORDS[code] ?? error.message.slice(0, MAX_CHARACTERS)}`;
}

function codeOf(error: Error): string {
  const { code = "", name, message } = error as NodeJS.ErrnoException;
  // "bad upgrade": a 101 that nobody asked for.
  if (name === "HTTPParserError" || (code === "UND_ERR_SOCKET" && message.startsWith("bad "))) return "invalid_reply";
  const kind = failureKindOf(code);
  return UNDICI_CODES[code] ?? (kind === undefined ? "network" : KINDS[kind]);
}

/** The failure of an attempt that was not over in time. */
function describeTimeout(seconds: number): string {
  return `timeout: no complete reply within ${seconds} s`;
}

/** What came of one POST. Without a complete reply in time, `error` says why and there is no status. */
export interface Reply {
  statusCode: number | null;
  error: string | null;
  durationMs: number;
  /** The beginning of the reply's body, as text; null where it had none. */
  excerpt: string | null;
  /** What a 429 or 503 asked for, in milliseconds. */
  retryAfter: number | undefined;
  /** True if no connection could be opened because this process has no file descriptor left: nothing was sent. */
  isUnsent: boolean;
}

const LENGTH_MISMATCH = "UND_ERR_RES_CONTENT_LENGTH_MISMATCH";

/**
 * One POST of a delivery: 10 s from here to the reply's last byte, names and TLS included; redirects are not followed;
 * of the body 16 KiB are read, then the connection is dropped. A handler object of the HTTP client's own:
 * a promise and a stream for each attempt would cost a third of the rate.
 */
export class Attempt implements Dispatcher.DispatchHandler {
  readonly #clock: Clock;
  readonly #ended: (reply: Reply) => void;
  readonly #startedAt: number;
  readonly #cancelDeadline: () => void;
  #controller: Dispatcher.DispatchController | undefined;
  #statusCode: number | undefined;
  #retryAfter: number | undefined;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #over = false;
  #isUnsent = false;

  constructor(clock: Clock, ended: (reply: Reply) => void) {
    this.#clock = clock;
    this.#ended = ended;
    this.#startedAt = clock.elapsed();
    this.#cancelDeadline = clock.after(LIMITS.deliverySeconds * 1000, () => this.#expire());
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // The limit passed while the connection was being made.
    if (this.#over) controller.abort(new Error("the attempt is over"));
  }

  onResponseStart(_controller: unknown, status: number, headers: Record<string, string | string[] | undefined>): void {
    if (status < 200) return;
    this.#statusCode = status;
    const header = headers["retry-after"];
    this.#retryAfter = readRetryAfter(status, Array.isArray(header) ? header[0] : header, this.#clock.now());
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#over) return;
    const room = LIMITS.deliveryExcerptBytes - this.#bytes;
    this.#bytes += chunk.length;
    // Copied, or a few bytes would keep the connection's whole buffer.
    this.#chunks.push(Buffer.from(chunk.subarray(0, room)));
    if (chunk.length <= room) return;
    this.#end(null);
    controller.abort(new Error("the rest of the reply is not wanted"));
  }

  onResponseEnd(): void {
    this.#end(null);
  }

  onResponseError(_controller: unknown, error: Error): void {
    if (this.#hasNoBody() && (error as { code?: unknown }).code === LENGTH_MISMATCH) return this.#end(null);
    this.#isUnsent = isOutOfDescriptors(error);
    this.#end(describeAttemptError(error));
  }

  /** These end with their headers, whatever Content-Length they have (RFC 9112 6.3). */
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
    // Streaming mode leaves out a character that the limit has cut in two.
    return new TextDecoder().decode(body, { stream: true });
  }
}

/**
 * A timer may fire a little late; the limit holds all the same. After a suspension the duration says nothing about the
 * endpoint: its response may have waited to be read for as long.
 */
function isLate(durationMs: number): boolean {
  const limit = LIMITS.deliverySeconds * 1000;
  return durationMs > limit && durationMs <= limit + SUSPENDED_MS;
}

/** The statuses whose `Retry-After` is obeyed. */
const STATUSES: ReadonlySet<number> = new Set([429, 503]);

/**
 * How long a receiver asks to be left alone, in milliseconds: whole seconds or an HTTP date (RFC 9110, 10.2.3). `now` is
 * real time, which the date is compared with. Undefined where it asks for nothing, or in no form that counts.
 */
export function readRetryAfter(status: number, header: string | undefined, now: number): number | undefined {
  if (header === undefined || !STATUSES.has(status)) return undefined;
  const text = header.trim();
  if (/^\d{1,12}$/.test(text)) return Number(text) * 1000;
  // All three date forms of HTTP begin with the name of a day; Date.parse alone would take far more for a date.
  if (!/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /.test(text)) return undefined;
  const date = Date.parse(text.endsWith("GMT") ? text : `${text} GMT`);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
