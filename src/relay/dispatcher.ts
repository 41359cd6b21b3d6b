import { createHistogram } from "node:perf_hooks";
import { LIMITS } from "../contract/limits.ts";
import { isSuccess } from "../contract/is-success.ts";
import { sign } from "../webhooks/index.ts";
import { Chaos, type Intake } from "./chaos.ts";
import { type ChaosSettings, isForgery } from "./chaos-settings.ts";
import { type Clock, systemClock } from "../network/clock.ts";
import { type Delivery, type Injected, objectIdOf, type RelayedEvent } from "./delivery.ts";
import { hintForResponse } from "./forward-failure.ts";
import type { ForwardResult, ForwarderOptions } from "./forwarder.ts";
import type { AttemptOutcome, Outcome } from "./ledger.ts";
import type { ForwardedReport, Hint, Summary } from "./report.ts";
import { type Route, Router } from "./targets.ts";
import { Schedule } from "./start-order.ts";

const DEFAULT_CONCURRENCY = 16;
const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 30_000;
/** The longest `Retry-After` of a receiver that is obeyed. */
const MAX_RETRY_AFTER_MS = 60_000;
/** Wait before an attempt that could not be sent, for lack of a file descriptor, is made again. */
const UNSENT_DELAY_MS = 500;
const NO_DESCRIPTORS =
  "No file descriptors are left for connections: forwards wait. Close other programs, or raise `ulimit -n`.";
/** Characters of the response to a retried attempt that are reported: many attempts share one frame. */
const MAX_EARLIER_EXCERPT = 1_024;
/** Failed events that are remembered, in case a resend delivers them. */
const MAX_FAILED = 10_000;
/** The age of a stale signature, older than any receiver should accept. */
const STALE_SECONDS = 2 * LIMITS.signatureToleranceSeconds;

export interface ForwardingOptions extends Pick<ForwarderOptions, "headers" | "skipVerify" | "timeoutMs" | "host"> {
  /** Target of events that match no route; without it, they are not forwarded. */
  target?: URL | undefined;
  /** Other receivers for some event types; the first route that matches is used. */
  routes?: readonly Route[] | undefined;
  /** Maximum number of concurrent forwards (default: 16). */
  concurrency?: number | undefined;
  /** Forwards the events of each object one at a time, in order. */
  ordered?: boolean | undefined;
  /** Maximum number of retries of a failed forward (default: 0). */
  retries?: number | undefined;
  /** Faults to inject. */
  chaos?: ChaosSettings | undefined;
  clock?: Clock | undefined;
  random?: (() => number) | undefined;
}

/** The secret that deliveries of the platform are signed with, or all headers of a delivery of another sender. */
export type Signing<Event extends RelayedEvent> =
  | { secret: () => string }
  | {
      headers: (event: Event, body: Uint8Array) => readonly string[];
      /** Returns what to do if a receiver rejects the event, unless that is to check the secret. */
      rejectedHint?: ((event: Event) => string) | undefined;
    };

/** Where the results go. */
interface Outlet<Event extends RelayedEvent> {
  /** Called once for each added event that was forwarded, after its last attempt. */
  settled(event: Event, outcome: Outcome): void;
  /** Called after each failed attempt that is retried. */
  retrying?(event: Event, attempt: AttemptOutcome, retryInMs: number): void;
  /** Called once an event was resent manually, unchanged. */
  resent?(event: Event, outcome: Outcome): void;
  report(report: ForwardedReport | Hint): void;
}

/** Returns the maximum number of concurrent forwards, with room for a burst. */
export function concurrencyOf({ concurrency, chaos }: ForwardingOptions): number {
  return Math.max(concurrency ?? DEFAULT_CONCURRENCY, chaos?.burst ?? 0);
}

/** Throws SignatureError for a secret that cannot sign. */
export function assertSigningSecret(secret: string): void {
  sign({ payload: "", secrets: secret });
}

/**
 * Forwards events to their receivers (timing, order, retries, signature) and counts the results. A delivery passes
 * through it in one direction: the intake, which may inject faults, the schedule, the forwarder, and with its result to
 * the outlet. Only one that is retried returns to the schedule.
 */
export class Dispatcher<Event extends RelayedEvent> {
  readonly #signing: Signing<Event>;
  readonly #outlet: Outlet<Event>;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #ordered: boolean;
  readonly #maxRetries: number;
  readonly #router: Router;
  readonly #schedule: Schedule<Delivery<Event>>;
  readonly #intake: Intake<Event>;
  /** Latencies in microseconds, since it counts whole numbers. */
  readonly #latency = createHistogram();
  readonly #counts = { received: 0, forwarded: 0, failed: 0, unretried: 0, resolved: 0, dropped: 0 };
  /** IDs of events that failed and were not delivered since, oldest first. */
  readonly #failed = new Set<string>();
  /** Added events that are not settled and of which no attempt is in flight. */
  readonly #waiting = new Set<Event>();
  /** IDs of those that had retries left at the end. */
  readonly #unretried: string[] = [];
  /** Events whose delivery ended before an injected copy of it. */
  readonly #held = new Map<Event, Injected>();
  /** Incremented with each `drop`. */
  #generation = 0;
  #resends = 0;
  /** Deliveries that wait for their next attempt, with the function that cancels it. */
  readonly #retries = new Map<Delivery<Event>, () => void>();
  /** True from the first forward that lacked a file descriptor to the next that had one. */
  #lacksDescriptors = false;
  #paused = false;
  /** What `windUp` returned, once it was called. */
  #ended: Promise<void> | undefined;
  #end: () => void = () => {};
  /** Called when nothing waits and nothing is in flight. */
  #settled: () => void = () => {};

  constructor(options: ForwardingOptions, signing: Signing<Event>, outlet: Outlet<Event>) {
    const { clock = systemClock, random = Math.random, routes = [], target, ordered = false, retries = 0 } = options;
    const { chaos } = options;
    this.#signing = signing;
    this.#outlet = outlet;
    this.#clock = clock;
    this.#random = random;
    this.#ordered = ordered;
    this.#maxRetries = retries;
    this.#router = new Router({ ...options, clock, routes, target });
    this.#schedule = new Schedule(concurrencyOf(options), ordered ? ({ partition }) => partition : undefined);
    const admit = (delivery: Delivery<Event>): void => this.#enqueue(delivery);
    this.#intake = chaos === undefined ? { admit, clear() {}, ended() {} } : new Chaos(chaos, clock, admit);
  }

  /** Forwards an event; returns false if no receiver is configured for it. */
  add(event: Event): boolean {
    this.#counts.received += 1;
    const delivery = this.#deliveryOf(event);
    if (delivery === undefined) return false;
    this.#waiting.add(event);
    this.#intake.admit(delivery);
    return true;
  }

  /**
   * Forwards an event again, in addition to its own delivery, as this attempt. Returns the number in its report;
   * undefined if no receiver is configured for it.
   */
  resend(event: Event, attempt: number): number | undefined {
    const delivery = this.#deliveryOf(event);
    if (delivery === undefined) return undefined;
    const resend = (this.#resends += 1);
    this.#enqueue({ ...delivery, attempt, copy: "resent", resend });
    return resend;
  }

  /** Starts nothing more until `resume`. */
  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#startNext();
  }

  /**
   * Drops what waits, besides resends, and retries nothing that is in flight. Returns the events that were dropped, which
   * are never settled.
   */
  drop(): Event[] {
    this.#generation += 1;
    this.#intake.clear();
    this.#settleHeld();
    for (const [delivery, cancel] of this.#retries) {
      // It waits for a file descriptor.
      if (delivery.resend !== undefined) continue;
      cancel();
      this.#retries.delete(delivery);
      this.#schedule.release(delivery);
    }
    for (const delivery of this.#schedule.drain()) if (delivery.resend !== undefined) this.#schedule.add(delivery);
    const dropped = [...this.#waiting];
    this.#waiting.clear();
    this.#counts.dropped += dropped.length;
    this.#notifySettled();
    return dropped;
  }

  /** Resolves once every added event has been forwarded, has failed for good or was dropped. */
  settled(): Promise<void> {
    return new Promise((resolve) => {
      this.#settled = resolve;
      this.#notifySettled();
    });
  }

  #notifySettled(): void {
    if (this.#waiting.size === 0 && this.#schedule.idle) this.#settled();
  }

  /** IDs of the events that were sent and have no response yet. */
  get inFlight(): string[] {
    return [...this.#schedule.running].map(({ event }) => event.id);
  }

  /** Drops what has not started. Resolves once the rest has ended. */
  windUp(): Promise<void> {
    this.#ended ??= new Promise((resolve) => (this.#end = resolve));
    this.#intake.clear();
    this.#schedule.clear();
    for (const [{ event, copy }, cancel] of this.#retries) {
      cancel();
      if (copy !== undefined) continue;
      this.#waiting.delete(event);
      this.#counts.failed += 1;
      this.#counts.unretried += 1;
      this.#unretried.push(event.id);
    }
    this.#retries.clear();
    if (this.#schedule.idle) this.#finish();
    return this.#ended;
  }

  /** Closes all connections and returns the totals; the caller counts the duplicates, if it drops any. */
  close(duplicates?: number): Summary {
    this.#router.close();
    const [p50, p99] = [50, 99].map((rank) =>
      this.#latency.count === 0 ? undefined : this.#latency.percentile(rank) / 1000,
    );
    // At a second Ctrl-C, some are in flight.
    const open = [...this.#schedule.running].filter(({ copy }) => copy === undefined);
    const waiting = [...this.#waiting, ...open.map(({ event }) => event)].map(({ id }) => id);
    const unsent = [...this.#unretried, ...waiting].sort();
    const summary: Summary = { ...this.#counts, waiting: waiting.length, unsent, duplicates, p50, p99 };
    if (this.#intake.summary !== undefined) summary.chaos = this.#intake.summary;
    return summary;
  }

  #deliveryOf(event: Event): Delivery<Event> | undefined {
    const destination = this.#router.find(event.type);
    if (destination === undefined) return undefined;
    const partition = this.#ordered ? objectIdOf(event.body) : undefined;
    return { event, destination, partition, generation: this.#generation, attempt: 1, earlier: [], faults: [] };
  }

  #enqueue(delivery: Delivery<Event>): void {
    this.#schedule.add(delivery);
    this.#startNext();
  }

  #startNext(): void {
    if (this.#paused || this.#ended !== undefined) return;
    for (let next = this.#schedule.next(); next !== undefined; next = this.#schedule.next()) this.#forward(next);
  }

  #forward(delivery: Delivery<Event>): void {
    const { event, attempt, destination, copy } = delivery;
    if (copy === undefined) this.#waiting.delete(event);
    const body = event.bytes ?? Buffer.from(event.body, "utf8");
    const { forwarder } = destination;
    const signing = this.#signing;
    const headers =
      "headers" in signing
        ? signing.headers(event, body)
        : forwarder.headersOf({ id: event.id, signature: this.#sign(body, signing.secret(), delivery), attempt });
    delivery.headers = headers;
    forwarder.forward({ headers, body }, (result) => {
      this.#conclude(delivery, result);
      this.#startNext();
    });
  }

  #sign(body: Uint8Array, secret: string, { copy }: Delivery<Event>): string {
    const age = copy === "stale" ? STALE_SECONDS : 0;
    const timestamp = Math.floor(this.#clock.now() / 1000) - age;
    return sign({ payload: body, secrets: copy === "badsig" ? `not ${secret}` : secret, timestamp });
  }

  /** Ends an attempt: the delivery is retried, or has its outcome. */
  #conclude(delivery: Delivery<Event>, result: ForwardResult): void {
    const { isUnsent = false } = result;
    const isKept = delivery.resend !== undefined || delivery.generation === this.#generation;
    const mayContinue = this.#ended === undefined && isKept;
    if (isUnsent && mayContinue) return this.#wait(delivery);
    this.#lacksDescriptors = isUnsent;
    const retryInMs = mayContinue ? this.#retryIn(delivery, result) : undefined;
    if (retryInMs === undefined) this.#schedule.ended(delivery);
    else this.#schedule.suspend(delivery);
    const resolves = this.#record(delivery, result, retryInMs === undefined);
    const { event, destination, attempt, headers = [], copy, resend } = delivery;
    this.#outlet.report({
      event: "forwarded",
      id: event.id,
      type: event.type,
      url: destination.url,
      attempt,
      headers,
      copy,
      resend,
      retryInMs,
      ...result,
      hint: this.#hintFor(delivery, result),
      faults: delivery.faults.length === 0 ? undefined : delivery.faults,
      resolves: resolves || undefined,
    });
    if (retryInMs === undefined) {
      const follower = this.#intake.ended(delivery, result.status);
      if (follower !== undefined && mayContinue) this.#schedule.add(follower);
      if (delivery.injected !== undefined) this.#settleInjected(delivery);
    } else {
      this.#retryAfter(retryInMs, delivery, result);
    }
    if (this.#schedule.idle) this.#finish();
    this.#notifySettled();
  }

  #hintFor({ event, copy }: Delivery<Event>, result: ForwardResult): string | undefined {
    const { status, failure, excerpt, responseHeaders } = result;
    // A receiver that rejects a forged signature does what it should.
    if (isSuccess(status) || isForgery(copy)) return undefined;
    if (status === undefined) return failure?.hint;
    const signing = this.#signing;
    const rejected = "headers" in signing ? signing.rejectedHint : undefined;
    return hintForResponse({ status, excerpt, responseHeaders }, rejected && (() => rejected(event)));
  }

  /** Lets a delivery wait for a file descriptor: that counts as no attempt, and is reported once. */
  #wait(delivery: Delivery<Event>): void {
    this.#schedule.suspend(delivery);
    this.#startAfter(UNSENT_DELAY_MS, delivery);
    if (this.#lacksDescriptors) return;
    this.#lacksDescriptors = true;
    this.#outlet.report({ event: "hint", url: delivery.destination.url, message: NO_DESCRIPTORS });
  }

  /** Returns true for a resend that delivers an event which had failed. */
  #record({ event, copy, earlier, injected }: Delivery<Event>, result: ForwardResult, isLast: boolean): boolean {
    if (copy === "resent") return event.isEdited !== true && this.#recordResend(event, result);
    if (copy !== undefined) return false;
    if (!isLast) return false;
    if (isSuccess(result.status)) {
      this.#latency.record(Math.max(1, Math.round(result.durationMs * 1000)));
      this.#counts.forwarded += 1;
    } else this.#fail(event.id);
    const outcome = { ...attemptOutcome(result), earlier };
    if (injected === undefined) this.#outlet.settled(event, outcome);
    else injected.outcome = outcome;
    return false;
  }

  /** Settles an event once its delivery and the copies of it have ended. */
  #settleInjected({ event, injected, generation }: Delivery<Event>): void {
    if (injected?.outcome === undefined) return;
    this.#held.set(event, injected);
    if (injected.open === 0 || generation !== this.#generation) this.#release(event, injected);
  }

  #release(event: Event, injected: Injected): void {
    const { outcome, faults } = injected;
    this.#held.delete(event);
    injected.outcome = undefined;
    this.#outlet.settled(event, { ...outcome!, injected: faults.join(", ") || undefined });
  }

  /** Settles the events whose copies are not sent any more. */
  #settleHeld(): void {
    for (const [event, injected] of this.#held) this.#release(event, injected);
  }

  /** Ends the run: nothing is in flight. */
  #finish(): void {
    if (this.#ended !== undefined) this.#settleHeld();
    this.#end();
  }

  #recordResend(event: Event, result: ForwardResult): boolean {
    this.#outlet.resent?.(event, attemptOutcome(result));
    if (!isSuccess(result.status) || !this.#failed.delete(event.id)) return false;
    this.#counts.resolved += 1;
    this.#counts.failed -= 1;
    this.#counts.forwarded += 1;
    return true;
  }

  #fail(id: string): void {
    this.#counts.failed += 1;
    this.#failed.add(id);
    if (this.#failed.size > MAX_FAILED) this.#failed.delete(this.#failed.values().next().value!);
  }

  #retryIn({ copy, attempt }: Delivery<Event>, { status, retryAfterMs = 0 }: ForwardResult): number | undefined {
    const isFinal = isSuccess(status) || copy !== undefined || attempt > this.#maxRetries;
    if (isFinal) return undefined;
    return Math.max(retryDelay(attempt, this.#random), Math.min(retryAfterMs, MAX_RETRY_AFTER_MS));
  }

  #retryAfter(milliseconds: number, delivery: Delivery<Event>, result: ForwardResult): void {
    // A copy: a slice would keep the whole response in memory.
    const excerpt = Buffer.from(result.excerpt.slice(0, MAX_EARLIER_EXCERPT)).toString();
    const attempt = { ...attemptOutcome(result), excerpt };
    delivery.earlier.push({ ...attempt, endedAt: this.#clock.elapsed() });
    this.#outlet.retrying?.(delivery.event, attempt, milliseconds);
    if (delivery.earlier.length > LIMITS.earlierAttempts) delivery.earlier.shift();
    delivery.attempt += 1;
    this.#startAfter(milliseconds, delivery);
  }

  #startAfter(milliseconds: number, delivery: Delivery<Event>): void {
    if (delivery.copy === undefined) this.#waiting.add(delivery.event);
    const cancel = this.#clock.after(milliseconds, () => {
      this.#retries.delete(delivery);
      this.#schedule.resume(delivery);
      this.#startNext();
    });
    this.#retries.set(delivery, cancel);
  }
}

/** Returns the wait in milliseconds before the next attempt, after this many: 1 s, doubled up to 30 s, ± 20 %. */
function retryDelay(attempts: number, random: () => number): number {
  return Math.min(FIRST_RETRY_MS * 2 ** (attempts - 1), MAX_RETRY_MS) * (0.8 + 0.4 * random());
}

function attemptOutcome({ status, error, durationMs, excerpt, responseHeaders }: ForwardResult) {
  const headers = isSuccess(status) ? undefined : responseHeaders;
  return { status, error, durationMs, excerpt, headers };
}
