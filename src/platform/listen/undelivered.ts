import type { Retry } from "../../contract/listen.ts";
import { LIMITS } from "../../contract/limits.ts";
import type { Attempt } from "../../contract/schemas/delivery.ts";
import type { ListenerResult } from "../../contract/schemas/statistics.ts";
import { formatTimestamp } from "../../contract/timestamps.ts";

const MAX_EVENTS = 10_000;

/** The failed attempts of an event that a listener retries. Real times, in Unix milliseconds. */
export interface FailedAttempts {
  attempts: readonly FailedAttempt[];
  nextAt: number;
}

interface FailedAttempt extends Pick<Attempt, "status_code" | "error" | "duration_ms" | "response_excerpt"> {
  at: number;
}

/** What a listener does or did with an event that it left without a delivery. */
export interface Undelivered extends Pick<ListenerResult, "listener" | "result"> {
  failed?: FailedAttempts | undefined;
}

/** Adds an attempt. Only the last one keeps its response, since many events may be retried at once. */
export function withRetry(earlier: FailedAttempts | undefined, retry: Retry, now: number): FailedAttempts {
  const { retry_in_ms: wait, duration_ms, status_code = null, error = null, response_excerpt = null } = retry;
  const attempts = (earlier?.attempts ?? [])
    .slice(1 - LIMITS.earlierAttempts)
    .map((attempt) => ({ ...attempt, response_excerpt: null }));
  const last = {
    at: now,
    duration_ms,
    status_code,
    error: error?.slice(0, LIMITS.descriptionLength) ?? null,
    response_excerpt: response_excerpt?.slice(0, LIMITS.deliveryExcerptBytes) ?? null,
  };
  return { attempts: [...attempts, last], nextAt: now + wait };
}

/** `offset`: how far the environment's time is ahead of real time, in milliseconds. */
export function toListenerResult({ listener, result, failed }: Undelivered, offset: number): ListenerResult {
  const attempts = (failed?.attempts ?? []).map(({ at, ...attempt }) => ({
    ...attempt,
    at: formatTimestamp(at + offset),
    request_headers: null,
    response_headers: null,
  }));
  const next = result === "forwarding" && failed !== undefined ? formatTimestamp(failed.nextAt + offset) : null;
  return { listener, result, attempts, next_attempt: next };
}

/** What listeners did with the last events that they left without a delivery. Only explanations need it: in memory. */
export class UndeliveredEvents {
  /** Newest event last, with its newest result first. */
  readonly #results = new Map<string, { environment: number; results: Undelivered[] }>();

  add(environment: number, event: string, result: Undelivered): void {
    const others = (this.#results.get(event)?.results ?? []).filter(({ listener }) => listener !== result.listener);
    this.#results.delete(event);
    this.#results.set(event, { environment, results: [result, ...others] });
    if (this.#results.size > MAX_EVENTS) this.#results.delete(this.#results.keys().next().value!);
  }

  resultsOf(environment: number, event: string): readonly Undelivered[] {
    const found = this.#results.get(event);
    return found?.environment === environment ? found.results : [];
  }
}
