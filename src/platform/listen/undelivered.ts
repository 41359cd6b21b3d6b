import { type ForwardAttempt, reportedHeaders, type Retry } from "../../contract/listen.ts";
import { LIMITS } from "../../contract/limits.ts";
import type { ListenerResult } from "../../contract/schemas/statistics.ts";
import { formatTimestamp } from "../../contract/timestamps.ts";
import { toAttempt } from "../domain/deliveries.ts";
import { type AttemptRow, storableText } from "../storage/deliveries.ts";

const MAX_EVENTS = 10_000;
/** The newest events whose failed attempts are listed. */
const MAX_FAILED = 20;

/** An attempt of a listener as it is stored. */
export type MadeAttempt = Omit<AttemptRow, "delivery_id" | "number">;

/** The failed attempts of an event that a listener retries. Real times, in Unix milliseconds. */
export interface FailedAttempts {
  attempts: readonly MadeAttempt[];
  nextAt: number;
}

/** What a listener does or did with an event that it left without a delivery. */
export interface Undelivered extends Pick<ListenerResult, "event" | "listener" | "result"> {
  failed?: FailedAttempts | undefined;
}

/** Returns a reported attempt as it is stored. `at`: its start. */
export function toMadeAttempt({ at, ...attempt }: ForwardAttempt & { at: number }): MadeAttempt {
  const headers = reportedHeaders(attempt);
  return {
    at,
    status_code: attempt.status_code ?? null,
    error: storableOrNull(attempt.error, LIMITS.descriptionLength),
    duration_ms: Math.round(attempt.duration_ms),
    request_headers: null,
    response_headers:
      headers && JSON.stringify(headers, (_name, value) => (typeof value === "string" ? storableText(value) : value)),
    response_excerpt: storableOrNull(attempt.response_excerpt, LIMITS.deliveryExcerptBytes),
  };
}

function storableOrNull(text: string | undefined, length: number): string | null {
  return text === undefined ? null : storableText(text.slice(0, length));
}

/** Adds an attempt. Only the last one keeps its response, since many events may be retried at once. */
export function withRetry(earlier: FailedAttempts | undefined, retry: Retry, now: number): FailedAttempts {
  const attempts = (earlier?.attempts ?? [])
    .slice(1 - LIMITS.earlierAttempts)
    .map((attempt) => ({ ...attempt, response_excerpt: null }));
  const last = toMadeAttempt({ ...retry, at: Math.round(now - retry.duration_ms) });
  return { attempts: [...attempts, last], nextAt: now + retry.retry_in_ms };
}

/** `offset`: how far the environment's time is ahead of real time, in milliseconds. */
export function toListenerResult({ event, listener, result, failed }: Undelivered, offset: number): ListenerResult {
  const attempts = (failed?.attempts ?? []).map((attempt) =>
    toAttempt({ ...attempt, at: attempt.at + offset, injected: null }),
  );
  const next = result === "forwarding" && failed !== undefined ? formatTimestamp(failed.nextAt + offset) : null;
  return { event, listener, result, attempts, next_attempt: next };
}

/** Returns those with failed attempts, the newest attempt first. */
export function newestFailed(results: readonly Undelivered[]): Undelivered[] {
  const newest = ({ failed }: Undelivered) => failed?.attempts.at(-1)?.at ?? -Infinity;
  return results
    .filter(({ failed }) => failed !== undefined)
    .sort((a, b) => newest(b) - newest(a))
    .slice(0, MAX_FAILED);
}

/** What listeners did with the last events that they left without a delivery. Only explanations need it: in memory. */
export class UndeliveredEvents {
  /** Newest event last, with its newest result first. */
  readonly #results = new Map<string, { environment: number; results: Undelivered[] }>();

  add(environment: number, result: Undelivered): void {
    const { event, listener } = result;
    const others = this.#othersOf(event, listener);
    this.#results.delete(event);
    this.#results.set(event, { environment, results: [result, ...others] });
    if (this.#results.size > MAX_EVENTS) this.#results.delete(this.#results.keys().next().value!);
  }

  /** Forgets what a listener did with an event of which it has a delivery now. */
  remove(event: string, listener: string): void {
    const found = this.#results.get(event);
    if (found !== undefined) found.results = this.#othersOf(event, listener);
  }

  #othersOf(event: string, listener: string): Undelivered[] {
    return (this.#results.get(event)?.results ?? []).filter((result) => result.listener !== listener);
  }

  resultsIn(environment: number): Undelivered[] {
    return [...this.#results.values()].flatMap((found) => (found.environment === environment ? found.results : []));
  }
}
