import { Readable } from "node:stream";
import { Agent } from "undici";
import { DELIVERY_USER_AGENT, HEADERS } from "../../contract/headers.ts";
import { sign } from "../../webhooks/index.ts";
import { formatTraceparent } from "../observability/trace-context.ts";
import type { Clock, Random } from "../ports.ts";
import type { AttemptOutcome, QueuedDelivery } from "../storage/delivery-queue.ts";
import { storableText } from "../storage/attempts.ts";
import { Attempt, type AttemptResponse } from "./attempt.ts";
import { nextAttemptAt } from "./schedule.ts";
import type { TargetGuard } from "./target-guard.ts";

/** The target of an endpoint's deliveries when they were claimed. */
export interface Destination {
  endpointId: string;
  url: URL;
  /** The URL as the endpoint has it. */
  urlText: string;
  secrets: readonly string[];
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

/**
 * An idle connection is closed this soon: sooner than most receivers close theirs, which would fail the next attempt.
 */
const KEEP_ALIVE_MILLISECONDS = 1000;
const GONE = 410;
const SPAN_BYTES = 8;
/**
 * A larger body is written in pieces of this size as the receiver reads them. TLS copies all it is given, once per
 * connection, and keeps the copy while the receiver does not read.
 */
const PIECE_BYTES = 64 * 1024;

/** Sends deliveries to their receivers: signs, posts, and judges the response. */
export class DeliverySender {
  readonly #agent: Agent;
  readonly #clock: Clock;
  readonly #random: Random;

  constructor(guard: TargetGuard, clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
    this.#agent = new Agent({
      connect: guard.connector,
      keepAliveTimeout: KEEP_ALIVE_MILLISECONDS,
      keepAliveMaxTimeout: KEEP_ALIVE_MILLISECONDS,
      // Each attempt has its own overall time limit.
      headersTimeout: 0,
      bodyTimeout: 0,
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
    const headers: Record<string, string> = {
      "Content-Type": "application/json",
      "Content-Length": String(payload.length),
      "User-Agent": DELIVERY_USER_AGENT,
      [HEADERS.signature]: sign({ payload, secrets: destination.secrets, timestamp }),
      [HEADERS.eventId]: delivery.event_id,
      [HEADERS.deliveryAttempt]: String(delivery.attempt_count + 1),
    };
    if (delivery.trace !== null) {
      headers["traceparent"] = formatTraceparent(delivery.trace, this.#random.bytes(SPAN_BYTES));
    }
    const requestHeaders = JSON.stringify(headers);
    const { origin, pathname, search } = destination.url;
    const body = payload.length > PIECE_BYTES ? Readable.from(piecesOf(payload)) : payload;
    this.#agent.dispatch(
      { origin, path: pathname + search, method: "POST", headers, body },
      new Attempt(this.#clock, (response) =>
        ended(
          response.isUnsent
            ? undefined
            : judge(job, at, { response, requestHeaders, fraction: this.#random.fraction() }),
        ),
      ),
    );
  }

  /** Closes all open connections. */
  async close(): Promise<void> {
    await this.#agent.destroy();
  }
}

function* piecesOf(payload: Buffer): Iterable<Buffer> {
  for (let start = 0; start < payload.length; start += PIECE_BYTES) {
    yield payload.subarray(start, start + PIECE_BYTES);
  }
}

/** Returns what a response means for its delivery. */
function judge(
  { delivery, token, destination, mayExpire }: Job,
  at: number,
  { response, requestHeaders, fraction }: { response: AttemptResponse; requestHeaders: string; fraction: number },
): Finished {
  const { statusCode, error, durationMs, excerpt, retryAfter } = response;
  const succeeded = statusCode !== null && statusCode >= 200 && statusCode < 300;
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
