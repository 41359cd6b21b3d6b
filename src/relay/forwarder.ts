import { DELIVERY_USER_AGENT, HEADERS } from "../contract/headers.ts";
import { LIMITS } from "../contract/limits.ts";
import { SUSPENDED_MS } from "../network/deadline.ts";
import { isOutOfDescriptors } from "../network/failures.ts";
import type { Clock } from "./clock.ts";
import { describeForwardError, describeTimeout, type ForwardFailure, type HostKind } from "./forward-failure.ts";
import { postRequest, ReceiverConnection, type ResponseReader } from "./receiver-connection.ts";
import type { ResponseHeaders } from "./response-parser.ts";

export interface ForwarderOptions {
  url: URL;
  clock: Clock;
  /** Additional headers, a flat list of names and values. */
  headers?: readonly string[] | undefined;
  /** Accepts any certificate of the receiver. */
  skipVerify?: boolean | undefined;
  /** Time limit from the connect to the last byte of the response, in milliseconds (default: 10 s). */
  timeoutMs?: number | undefined;
  /** Where this process runs (default: `plain`). */
  host?: HostKind | undefined;
}

export interface ForwardResult {
  /** The receiver's status; absent without a complete response. */
  status?: number;
  failure?: ForwardFailure;
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

/** What the headers of a delivery say. */
export interface Envelope {
  id: string;
  signature: string;
  attempt: number;
}

export interface Outgoing {
  /** A flat list of names and values. */
  headers: readonly string[];
  /** Sent as it is. */
  body: Uint8Array;
}

const UNSAFE = /[^\u0021-\u007e]/;
const UNSAFE_ALL = new RegExp(UNSAFE, "g");

/** A connection, and the exchange in flight on it. */
interface Slot {
  connection: ReceiverConnection;
  exchange: Exchange | undefined;
}

/** POSTs events to one receiver. Keeps as many connections as forwards were ever concurrent; the caller limits them. */
export class Forwarder {
  readonly #options: ForwarderOptions;
  readonly #headers: readonly string[];
  readonly #timeoutMs: number;
  readonly #idle: Slot[] = [];
  readonly #slots: Slot[] = [];
  #cancelDeadline: (() => void) | undefined;

  constructor(options: ForwarderOptions) {
    const { headers = [], timeoutMs = LIMITS.deliverySeconds * 1000 } = options;
    this.#options = options;
    const own = { "Content-Type": "application/json", "User-Agent": DELIVERY_USER_AGENT, [HEADERS.relay]: "1" };
    this.#headers = [...Object.entries(own).flat(), ...headers];
    this.#timeoutMs = timeoutMs;
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
    const { url, clock, host = "plain" } = this.#options;
    const slot = this.#idle.pop() ?? this.#openSlot();
    slot.exchange = new Exchange({
      connection: slot.connection,
      url,
      timeoutMs: this.#timeoutMs,
      host,
      clock,
      ended: (result) => {
        slot.exchange = undefined;
        this.#idle.push(slot);
        ended(result);
      },
    });
    if (this.#cancelDeadline === undefined) this.#watchDeadline(clock.monotonicMilliseconds());
    slot.connection.post(postRequest(url, headers, body), slot.exchange);
  }

  /** Closes all connections. */
  close(): void {
    this.#cancelDeadline?.();
    this.#cancelDeadline = undefined;
    for (const { connection } of this.#slots) connection.close();
  }

  #openSlot(): Slot {
    const { url, skipVerify = false, clock } = this.#options;
    const connection = new ReceiverConnection({ url, skipVerify, timeoutMs: this.#timeoutMs, clock });
    const slot: Slot = { connection, exchange: undefined };
    this.#slots.push(slot);
    return slot;
  }

  /** One timer serves all exchanges: it waits for the oldest one's deadline. */
  #watchDeadline(startedAt: number): void {
    const { clock } = this.#options;
    const wait = startedAt + this.#timeoutMs - clock.monotonicMilliseconds();
    this.#cancelDeadline = clock.after(Math.ceil(wait), () => this.#checkDeadlines());
  }

  #checkDeadlines(): void {
    const now = this.#options.clock.monotonicMilliseconds();
    let oldest = Infinity;
    for (const { exchange } of this.#slots) if (exchange?.isDue(now) === true) exchange.expire();
    for (const { exchange } of this.#slots) oldest = Math.min(oldest, exchange?.startedAt ?? Infinity);
    this.#cancelDeadline = undefined;
    if (oldest !== Infinity) this.#watchDeadline(oldest);
  }
}

interface ExchangeOptions {
  connection: ReceiverConnection;
  url: URL;
  timeoutMs: number;
  host: HostKind;
  clock: Clock;
  ended: (result: ForwardResult) => void;
}

/** One POST and its response. */
class Exchange implements ResponseReader {
  readonly startedAt: number;
  readonly #options: ExchangeOptions;
  #status: number | undefined;
  #headers: ResponseHeaders | undefined;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #isOver = false;

  constructor(options: ExchangeOptions) {
    this.#options = options;
    this.startedAt = options.clock.monotonicMilliseconds();
  }

  head(status: number, headers: ResponseHeaders): void {
    this.#status = status;
    this.#headers = headers;
  }

  data(chunk: Buffer): void {
    if (this.#isOver) return;
    const available = LIMITS.deliveryExcerptBytes - this.#bytes;
    this.#bytes += chunk.length;
    this.#chunks.push(chunk.length > available ? chunk.subarray(0, available) : chunk);
    if (chunk.length <= available) return;
    // The rest of the response is not needed.
    this.#isOver = true;
    this.#options.connection.close();
    this.#responded();
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#responded();
  }

  failed(error: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { url, host } = this.#options;
    this.#fail(describeForwardError(error, url, host), isOutOfDescriptors(error));
  }

  isDue(now: number): boolean {
    return this.startedAt + this.#options.timeoutMs <= now;
  }

  expire(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#options.connection.close();
    this.#timedOut(this.#status !== undefined);
  }

  #responded(): void {
    const durationMs = this.#elapsed();
    const late = durationMs - this.#options.timeoutMs;
    // A timer may fire a little late; the limit holds nevertheless. After a suspension the duration says nothing about
    // the receiver: its response may have waited to be read for as long.
    if (late > 0 && late <= SUSPENDED_MS) return this.#timedOut(true);
    const result: ForwardResult = {
      status: this.#status!,
      durationMs,
      excerpt: this.#excerpt(),
      responseHeaders: this.#headers,
    };
    const location = this.#headers?.get("location");
    if (location !== undefined) result.location = location;
    const retryAfter = this.#headers?.get("retry-after");
    const isBusy = result.status === 429 || result.status === 503;
    if (isBusy && retryAfter !== undefined && /^\d{1,6}$/.test(retryAfter)) {
      result.retryAfterMs = Number(retryAfter) * 1000;
    }
    this.#options.ended(result);
  }

  #timedOut(isResponding: boolean): void {
    const { timeoutMs, url, host } = this.#options;
    this.#fail(describeTimeout(timeoutMs, isResponding, url, host));
  }

  #fail(failure: ForwardFailure, isUnsent = false): void {
    this.#options.ended({ failure, isUnsent, durationMs: this.#elapsed(), excerpt: this.#excerpt() });
  }

  #elapsed(): number {
    return this.#options.clock.monotonicMilliseconds() - this.startedAt;
  }

  #excerpt(): string {
    if (this.#chunks.length === 0) return "";
    const bytes = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks);
    if (this.#bytes <= LIMITS.deliveryExcerptBytes) return bytes.toString("utf8");
    // Streaming mode drops a character that the limit has cut in two.
    return new TextDecoder().decode(bytes, { stream: true });
  }
}
