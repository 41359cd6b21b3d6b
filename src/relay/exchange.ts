import type { Dispatcher } from "undici";
import { LIMITS } from "../contract/limits.ts";
import type { Expirable } from "./deadlines.ts";
import { describeForwardError, describeTimeout, type ForwardFailure } from "./forward-failure.ts";
import type { HostKind } from "./host-kind.ts";
import type { Lane } from "./lane.ts";
import type { Clock } from "./ports.ts";

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
  request: Dispatcher.DispatchOptions;
  url: URL;
  timeoutMs: number;
  host: HostKind;
  clock: Clock;
  ended: (result: ForwardResult) => void;
}

/** One POST and its reply. A handler object of the HTTP client's: a promise and a stream for each would cost a third. */
export class Exchange implements Dispatcher.DispatchHandler, Expirable {
  readonly startedAt: number;
  readonly #options: ExchangeOptions;
  #controller: Dispatcher.DispatchController | undefined;
  #status: number | undefined;
  #location: string | undefined;
  #retryAfter: string | undefined;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #over = false;

  constructor(options: ExchangeOptions) {
    this.#options = options;
    this.startedAt = options.clock.now();
  }

  start(): void {
    this.#options.lane.client.dispatch(this.#options.request, this);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
  }

  onResponseStart(_controller: unknown, status: number, headers: Record<string, string | string[] | undefined>): void {
    this.#status = status;
    const location = headers["location"];
    if (location !== undefined) this.#location = String(location);
    if (status === 429 || status === 503) this.#retryAfter = String(headers["retry-after"] ?? "");
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#over) return;
    const room = LIMITS.deliveryExcerptBytes - this.#bytes;
    this.#bytes += chunk.length;
    this.#chunks.push(chunk.length > room ? chunk.subarray(0, room) : chunk);
    if (chunk.length <= room) return;
    this.#over = true;
    controller.abort(new Error("the rest of the reply is not wanted"));
    this.#answered();
  }

  onResponseEnd(): void {
    if (this.#over) return;
    this.#over = true;
    this.#options.lane.used = true;
    this.#answered();
  }

  onResponseError(_controller: unknown, error: Error): void {
    if (this.#over) return;
    const { lane, url, host } = this.#options;
    const failure = describeForwardError(error, url, host);
    // A kept connection that the receiver has just let go of says nothing about the receiver: once more, on a new one.
    if (failure.code === "reset" && lane.used && this.#status === undefined) {
      this.#controller = undefined;
      queueMicrotask(() => this.start());
      return;
    }
    this.#over = true;
    // The client is still busy with the failure: whoever is told may use it again at once.
    queueMicrotask(() => this.#failed(failure));
  }

  expire(): void {
    if (this.#over) return;
    this.#over = true;
    const { lane, timeoutMs, url, host } = this.#options;
    const reason = new Error("the time limit has passed");
    if (this.#controller !== undefined) this.#controller.abort(reason);
    else void lane.client.destroy(reason);
    this.#failed(describeTimeout(timeoutMs, this.#status !== undefined, url, host));
  }

  #answered(): void {
    const { timeoutMs, url, host } = this.#options;
    const durationMs = this.#elapsed();
    // The timer may come late; the limit holds all the same.
    if (durationMs > timeoutMs) return this.#failed(describeTimeout(timeoutMs, true, url, host));
    const result: ForwardResult = { status: this.#status!, durationMs, excerpt: this.#excerpt() };
    if (this.#location !== undefined) result.location = this.#location;
    if (this.#retryAfter !== undefined && /^\d{1,6}$/.test(this.#retryAfter)) {
      result.retryAfterMs = Number(this.#retryAfter) * 1000;
    }
    this.#options.ended(result);
  }

  #failed(failure: ForwardFailure): void {
    this.#options.ended({ failure, durationMs: this.#elapsed(), excerpt: this.#excerpt() });
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
