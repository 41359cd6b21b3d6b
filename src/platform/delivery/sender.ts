import { DELIVERY_USER_AGENT, HEADERS } from "../../contract/headers.ts";
import { isSuccess } from "../../contract/is-success.ts";
import { LIMITS } from "../../contract/limits.ts";
import { Poster } from "../../network/poster.ts";
import { sign } from "../../webhooks/index.ts";
import { formatTraceparent } from "../observability/trace-context.ts";
import type { Clock, Random } from "../ports.ts";
import type { AttemptOutcome, QueuedDelivery } from "../storage/delivery-queue.ts";
import { storableText } from "../storage/deliveries.ts";
import { type AttemptResponse, attemptResponseOf } from "./attempt.ts";
import { nextAttemptAt } from "./schedule.ts";
import type { TargetGuard } from "./target-guard.ts";

/** The target of an endpoint's deliveries when they were claimed. */
export interface Destination {
  endpointId: string;
  url: URL;
  /** The URL as the endpoint has it. */
  urlText: string;
  secrets: readonly string[];
  /** The endpoint's own headers, as a flat list of names and values. */
  headers: readonly string[];
}

/** A leased delivery, ready to be attempted. */
export interface Job {
  delivery: QueuedDelivery;
  /** The event's body. All deliveries of an event share the buffer. */
  body: Buffer;
  token: string;
  destination: Destination;
  /** On the monotonic clock. */
  claimedAt: number;
  /** The environment's time when it was claimed. On PostgreSQL, time is counted from there: see leaseTime. */
  claimedTime: number;
  /** True once the start of the attempt is in the database. */
  isMarkedBegun: boolean;
  /** False if the clock may have been wrong at the claim: then the delivery does not fail because of its age. */
  readonly mayExpire: boolean;
}

/** The claim that a job belongs to. */
export function toLease({ delivery, token }: Job): { id: string; token: string } {
  return { id: delivery.id, token };
}

/** A delivery whose attempt has finished, to be recorded. */
export interface Finished {
  delivery: QueuedDelivery;
  endpointId: string;
  outcome: AttemptOutcome;
  /** Set if the receiver responded 410 Gone: the URL that did. */
  goneUrl: string | undefined;
}

const GONE = 410;
const SPAN_BYTES = 8;
/** Replaces the values of an endpoint's headers in the record of an attempt. */
const HIDDEN = "…";

/** Sends deliveries to their receivers: signs, posts, and judges the response. */
export class DeliverySender {
  readonly #poster: Poster;
  readonly #clock: Clock;
  readonly #random: Random;

  constructor(guard: TargetGuard, clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
    this.#poster = new Poster({
      connect: guard.connect,
      timeoutMs: LIMITS.deliverySeconds * 1000,
      excerptBytes: LIMITS.deliveryExcerptBytes,
      clock,
    });
  }

  /**
   * Makes one attempt that begins at a time of the environment. `ended` is called once, at the latest when the time
   * limit passes. It is called without a result if this process has no file descriptor left for a connection, which
   * does not count as an attempt.
   */
  attempt(job: Job, at: number, ended: (finished: Finished | undefined) => void): void {
    const { delivery, destination, body: payload } = job;
    const timestamp = Math.floor(this.#clock.now() / 1000);
    const headers = ["Content-Type", "application/json", "User-Agent", DELIVERY_USER_AGENT];
    headers.push(HEADERS.signature, sign({ payload, secrets: destination.secrets, timestamp }));
    headers.push(HEADERS.eventId, delivery.event_id, HEADERS.deliveryAttempt, String(delivery.attempt_count + 1));
    if (delivery.trace !== null) {
      headers.push("traceparent", formatTraceparent(delivery.trace, this.#random.bytes(SPAN_BYTES)));
    }
    const own = destination.headers;
    const shown = [...headers, ...own.map((text, i) => (i % 2 === 0 ? text : HIDDEN))];
    const requestHeaders = asJson([...shown, "Content-Length", String(payload.length)]);
    this.#poster.post(destination.url, [...headers, ...own], payload, (result) => {
      const response = attemptResponseOf(result, this.#clock.now());
      const fraction = this.#random.fraction();
      ended(response.isUnsent ? undefined : judge(job, at, { response, requestHeaders, fraction }));
    });
  }

  /** Closes all open connections. */
  close(): void {
    this.#poster.close();
  }
}

/** Returns a flat list of names and values as an object. None contains anything that JSON escapes. */
function asJson(headers: readonly string[]): string {
  let text = "";
  for (let i = 0; i + 1 < headers.length; i += 2) text += `${i === 0 ? "" : ","}"${headers[i]!}":"${headers[i + 1]!}"`;
  return `{${text}}`;
}

/** Returns what a response means for its delivery. */
function judge(
  { delivery, token, destination, mayExpire }: Job,
  at: number,
  { response, requestHeaders, fraction }: { response: AttemptResponse; requestHeaders: string; fraction: number },
): Finished {
  const { statusCode, error, durationMs, excerpt, retryAfter } = response;
  const succeeded = isSuccess(statusCode);
  const isGone = statusCode === GONE;
  const failed = {
    attempts: delivery.attempt_count + 1,
    firstAttempt: delivery.first_attempt ?? at,
    endedAt: at + durationMs,
    retryAfter,
  };
  const next = succeeded || isGone ? undefined : nextAttemptAt(failed, fraction, mayExpire);
  return {
    delivery,
    endpointId: destination.endpointId,
    outcome: {
      id: delivery.id,
      token,
      claimed_due: delivery.next_attempt,
      status: succeeded ? "succeeded" : next === undefined ? "failed" : "pending",
      next_attempt: next ?? null,
      at,
      status_code: statusCode,
      error: error === null ? null : storableText(error),
      duration_ms: durationMs,
      request_headers: requestHeaders,
      response_headers: response.headers === null ? null : storableText(response.headers),
      response_excerpt: excerpt === null ? null : storableText(excerpt),
    },
    goneUrl: isGone ? destination.urlText : undefined,
  };
}

/** Finishes a delivery without an attempt, with the reason. */
export function abandon(
  delivery: QueuedDelivery,
  endpointId: string,
  token: string,
  at: number,
  reason: string,
  status: "failed" | "canceled" = "failed",
): Finished {
  return {
    delivery,
    endpointId,
    outcome: {
      id: delivery.id,
      token,
      claimed_due: delivery.next_attempt,
      status,
      next_attempt: null,
      at,
      status_code: null,
      error: reason,
      duration_ms: 0,
      request_headers: null,
      response_headers: null,
      response_excerpt: null,
    },
    goneUrl: undefined,
  };
}
