import { SUSPENDED_MS } from "../network/deadline.ts";
import { LIMITS } from "../contract/limits.ts";
import type { Expirable } from "./deadlines.ts";
import { describeForwardError, describeTimeout, type ForwardFailure } from "./forward-failure.ts";
import type { HostKind } from "./host-kind.ts";
import type { Lane, LaneExchange } from "./lane.ts";
import type { Clock } from "./ports.ts";
import type { ReplyHeaders } from "./reply-parser.ts";

export interface ForwardResult {
  /** The receiver's status; absent where no complete answer came. */
  status?: number;
  failure?: ForwardFailure;
  durationMs: number;
  /** The beginning of the reply's body, at most 16 KiB, as text. */
  excerpt: string;
  /** Where a redirect, which is not followed, points to. */
  location?: string;
  /** How long the receiver asks to be left alone, with 429 or 503. */
  retryAfterMs?: number;
}

export interface ExchangeOptions {
  lane: Lane;
  /** The whole request. */
  request: Uint8Array;
  url: URL;
  timeoutMs: number;
  host: HostKind;
  clock: Clock;
  ended: (result: ForwardResult) => void;
}

/** One POST and its reply. */
export class Exchange implements LaneExchange, Expirable {
  readonly startedAt: number;
  readonly #options: ExchangeOptions;
  #status: number | undefined;
  #headers: ReplyHeaders | undefined;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #over = false;

  constructor(options: ExchangeOptions) {
    this.#options = options;
    this.startedAt = options.clock.now();
  }

  start(): void {
    this.#options.lane.post(this.#options.request, this);
  }

  head(status: number, headers: ReplyHeaders): void {
    this.#status = status;
    this.#headers = headers;
  }

  data(chunk: Buffer): void {
    if (this.#over) return;
    const room = LIMITS.deliveryExcerptBytes - this.#bytes;
    this.#bytes += chunk.length;
    this.#chunks.push(chunk.length > room ? chunk.subarray(0, room) : chunk);
    if (chunk.length <= room) return;
    // The rest of the reply is not wanted.
    this.#over = true;
    this.#options.lane.cut();
    this.#answered();
  }

  end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#answered();
  }

  failed(error: Error): void {
    if (this.#over) return;
    this.#over = true;
    const { url, host } = this.#options;
    this.#ended({
      failure: describeForwardError(error, url, host),
      durationMs: this.#elapsed(),
      excerpt: this.#excerpt(),
    });
  }

  expire(): void {
    if (this.#over) return;
    this.#over = true;
    this.#options.lane.cut();
    this.#tooLate(this.#status !== undefined);
  }

  #answered(): void {
    const durationMs = this.#elapsed();
    const late = durationMs - this.#options.timeoutMs;
    // A timer may fire a little late; the limit holds all the same. After a suspension the duration says nothing about
    // the receiver: its response may have waited to be read for as long.
    if (late > 0 && late <= SUSPENDED_MS) return this.#tooLate(true);
    const result: ForwardResult = { status: this.#status!, durationMs, excerpt: this.#excerpt() };
    const location = this.#headers?.get("location");
    if (location !== undefined) result.location = location;
    const retryAfter = this.#headers?.get("retry-after");
    const isBusy = result.status === 429 || result.status === 503;
    if (isBusy && retryAfter !== undefined && /^\d{1,6}$/.test(retryAfter)) {
      result.retryAfterMs = Number(retryAfter) * 1000;
    }
    this.#ended(result);
  }

  #tooLate(answering: boolean): void {
    const { timeoutMs, url, host } = this.#options;
    const failure = describeTimeout(timeoutMs, answering, url, host);
    this.#ended({ failure, durationMs: this.#elapsed(), excerpt: this.#excerpt() });
  }

  #ended(result: ForwardResult): void {
    this.#options.ended(result);
  }

  #elapsed(): number {
    return this.#options.clock.now() - this.startedAt;
  }

  #excerpt(): string {
    if (this.#chunks.length === 0) return "";
    const bytes = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks);
    if (this.#bytes <= LIMITS.deliveryExcerptBytes) return bytes.toString("utf8");
    // Streaming mode leaves out a character that the limit has cut in two.
    return new TextDecoder().decode(bytes, { stream: true });
  }
}
