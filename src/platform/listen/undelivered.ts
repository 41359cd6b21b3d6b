import { reportedHeaders, type Retry } from "../../contract/listen.ts";
import { LIMITS } from "../../contract/limits.ts";
import type { Attempt } from "../../contract/schemas/delivery.ts";
import type { ListenerResult } from "../../contract/schemas/statistics.ts";
import { formatTimestamp } from "../../contract/timestamps.ts";

const MAX_EVENTS = 10_000;
/** The newest events whose failed attempts are listed. */
const MAX_FAILED = 20;

/** The failed attempts of an event that a listener retries. Real times, in Unix milliseconds. */
export interface FailedAttempts {
  attempts: readonly FailedAttempt[];
  nextAt: number;
}

interface FailedAttempt extends Pick<
  Attempt,
  "status_code" | "error" | "duration_ms" | "response_excerpt" | "response_headers"
> {
  at: number;
}

/** What a listener does or did with an event that it left without a delivery. */
export interface Undelivered extends Pick<ListenerResult, "event" | "listener" | "result"> {
  failed?: FailedAttempts | undefined;
}

/** Adds an attempt. Only the last one keeps its response, since many events may be retried at once. */
export function withRetry(earlier: FailedAttempts | undefined, retry: Retry, now: number): FailedAttempts {
  const { retry_in_ms: wait, duration_ms, status_code = null, error = null, response_excerpt = null } = retry;
  const attempts = (earlier?.attempts ?? [])
    .slice(1 - LIMITS.earlierAttempts)
    .map((attempt) => ({ ...attempt, response_excerpt: null }));
  const last = {
    at: Math.round(now - duration_ms),
    duration_ms,
    status_code,
    error: error?.slice(0, LIMITS.descriptionLength) ?? null,
    response_headers: reportedHeaders(retry),
    response_excerpt: response_excerpt?.slice(0, LIMITS.deliveryExcerptBytes) ?? null,
  };
  return { attempts: [...attempts, last], nextAt: now + wait };
}

/** `offset`: how far the environment's time is ahead of real time, in milliseconds. */
export function toListenerResult({ event, listener, result, failed }: Undelivered, offset: number): ListenerResult {
  const attempts = (failed?.attempts ?? []).map(({ at, ...attempt }) => ({
    ...attempt,
    at: formatTimestamp(at + offset),
    request_headers: null,
    injected: null,
  }));
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
