import { DELIVERY_USER_AGENT, HEADERS } from "../../contract/headers.ts";
import { isSuccess } from "../../contract/is-success.ts";
import { LIMITS } from "../../contract/limits.ts";
import { describeFailure, isOutOfDescriptors } from "../../network/failures.ts";
import { Poster, type PostResult } from "../../network/poster.ts";
import { readRetryAfter } from "../../network/retry-after.ts";
import type { ResponseHeaders } from "../../network/response-parser.ts";
import { sign } from "../../webhooks/index.ts";
import { formatTraceparent } from "../observability/trace-context.ts";
import type { Clock, Random } from "../ports.ts";
import { storableText } from "../storage/deliveries.ts";
import type { AttemptOutcome, QueuedDelivery } from "../storage/delivery-queue.ts";
import type { DeliveryTarget } from "../storage/webhook-endpoints.ts";
import { DnsError } from "./dns.ts";
import { nextAttemptAt } from "./retry-schedule.ts";
import { BlockedTargetError, type TargetGuard } from "./target-guard.ts";

/** The endpoint of deliveries when they were claimed. */
export interface Destination {
  target: DeliveryTarget;
  url: URL;
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
  /** When it was claimed, on the monotonic clock. */
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
      const isUnsent = result.error !== undefined && isOutOfDescriptors(result.error);
      ended(isUnsent ? undefined : judge(job, at, result, requestHeaders, this.#clock.now(), this.#random.fraction()));
    });
  }

  close(): void {
    this.#poster.close();
  }
}

/** Returns a flat list of names and values as an object in JSON. */
function asJson(headers: readonly string[]): string {
  let text = "";
  for (let i = 0; i + 1 < headers.length; i += 2) {
    text += `${i === 0 ? "" : ","}"${headers[i]!}":${JSON.stringify(headers[i + 1]!)}`;
  }
  return `{${text}}`;
}

/** Returns what the result of a POST means for its delivery. `now` is real time, `fraction` random. */
function judge(
  { delivery, token, destination, mayExpire }: Job,
  at: number,
  { status, error, durationMs, headers, excerpt }: PostResult,
  requestHeaders: string,
  now: number,
  fraction: number,
): Finished {
  const duration = Math.round(durationMs);
  const succeeded = isSuccess(status);
  const isGone = status === GONE;
  const failed = {
    attempts: delivery.attempt_count + 1,
    firstAttempt: delivery.first_attempt ?? at,
    endedAt: at + duration,
    retryAfter: status === undefined ? undefined : readRetryAfter(status, headers?.get("retry-after"), now),
  };
  const next = succeeded || isGone ? undefined : nextAttemptAt(failed, fraction, mayExpire);
  return {
    delivery,
    endpointId: destination.target.id,
    outcome: {
      id: delivery.id,
      token,
      claimed_due: delivery.next_attempt,
      status: succeeded ? "succeeded" : next === undefined ? "failed" : "pending",
      next_attempt: next ?? null,
      at,
      status_code: status ?? null,
      error: error === undefined ? null : storableText(describeAttemptError(error)),
      duration_ms: duration,
      request_headers: requestHeaders,
      response_headers: headers === undefined ? null : storableText(shownHeaders(headers)),
      response_excerpt: excerpt === "" ? null : storableText(excerpt),
    },
    goneUrl: isGone ? destination.target.url : undefined,
  };
}

/** Finishes a delivery, or an attempt of it, without a response. */
export function abandon(
  delivery: QueuedDelivery,
  endpointId: string,
  token: string,
  at: number,
  reason: string,
  { status = "failed", next_attempt = null }: Partial<Pick<AttemptOutcome, "status" | "next_attempt">> = {},
): Finished {
  return {
    delivery,
    endpointId,
    outcome: {
      id: delivery.id,
      token,
      claimed_due: delivery.next_attempt,
      status,
      next_attempt,
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

/** Returns why an attempt got no complete response: a stable code, a colon, and a description. */
function describeAttemptError(error: Error): string {
  if (error instanceof BlockedTargetError) return `blocked_target: ${error.message}`;
  if (error instanceof DnsError) return `dns: ${error.message}`;
  return describeFailure(error, LIMITS.deliverySeconds * 1000);
}

/** Returns the first headers as JSON, as many as fit. */
function shownHeaders(headers: ResponseHeaders): string {
  const shown: Record<string, string> = {};
  let left: number = LIMITS.deliveryHeaderCharacters;
  for (const [name, value] of headers) {
    left -= name.length + value.length;
    if (left < 0) break;
    shown[name] = value;
  }
  return JSON.stringify(shown);
}
