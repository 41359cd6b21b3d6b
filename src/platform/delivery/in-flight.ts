import { LIMITS } from "../../contract/limits.ts";
import type { Clock } from "../ports.ts";
import { LEASE_MILLISECONDS } from "./claim.ts";
import type { DeliverySender, Finished, Job } from "./sender.ts";
import type { EventBodies } from "./event-bodies.ts";
import type { EndpointQueue, EndpointQueues } from "./endpoint-queues.ts";

/**
 * A delivery that waits for a slot begins this soon or is released: later its endpoint's URL and secrets may be
 * outdated.
 */
const AHEAD_MILLISECONDS = 1000;
/** A claimed delivery begins this soon or is released: an attempt that begins later may outlast its lease. */
const FRESH_MILLISECONDS = LEASE_MILLISECONDS - LIMITS.deliverySeconds * 1000;

/** After this long without a file descriptor for a connection, some may be free again. */
const PAUSE_MILLISECONDS = 1000;

interface InFlightTools {
  clock: Clock;
  sender: DeliverySender;
  queues: EndpointQueues;
  bodies: EventBodies;
  /** How many attempts may be unsettled at once. */
  max: number;
  /** Called after each attempt. */
  ended: () => void;
  /** Called when none can begin for a while because this process has no file descriptor left. */
  paused: () => void;
}

/** The attempts of this process, from claim until record. */
export class InFlight {
  readonly #tools: InFlightTools;
  #finished: Finished[] = [];
  /** Attempts in flight, with the time at which each began on its environment's clock. */
  readonly #onWire = new Map<Job, number>();
  /** Number of attempts that were begun and are not recorded. */
  #unsettled = 0;
  #stopped = false;
  /** Deliveries that could not be sent, to be released. */
  #unsent: Job[] = [];
  /** Ends the pause after a lack of file descriptors. */
  #cancelPause: (() => void) | undefined;

  constructor(tools: InFlightTools) {
    this.#tools = tools;
  }

  /** Returns how many more may begin once finished ones are recorded. */
  get free(): number {
    if (this.#cancelPause !== undefined) return 0;
    return this.#tools.max - this.#unsettled + this.#finished.length;
  }

  /** Returns true if no attempt is in flight and none waits to be recorded. */
  get idle(): boolean {
    return this.#onWire.size === 0 && this.#finished.length === 0;
  }

  get isSending(): boolean {
    return this.#onWire.size > 0;
  }

  get hasFinished(): boolean {
    return this.#finished.length > 0;
  }

  /** Returns true if waiting for more attempts to finish before recording would leave connections idle. */
  get isMostlyIdle(): boolean {
    return this.#onWire.size === 0 || this.#finished.length * 2 >= this.#tools.max;
  }

  /** Begins claimed deliveries as far as there are slots, and the rest as slots become free. */
  add(jobs: readonly Job[]): void {
    const queues = new Set<EndpointQueue>();
    for (const job of jobs) {
      const queue = this.#tools.queues.of(job.destination.target.id);
      job.body = this.#tools.bodies.retain(job.delivery.event_id, job.body);
      queue.bytes += job.body.length;
      queue.ahead.push(job);
      queues.add(queue);
    }
    for (const queue of queues) this.#begin(queue, FRESH_MILLISECONDS);
  }

  /** Returns the finished attempts to record. Call `settle` afterwards, or `putBack` if recording failed. */
  take(): Finished[] {
    return this.#finished.splice(0);
  }

  putBack(finished: readonly Finished[]): void {
    this.#finished.unshift(...finished);
  }

  settle(count: number): void {
    this.#unsettled -= count;
    for (const queue of this.#tools.queues.all()) if (queue.ahead.length > 0) this.#begin(queue, AHEAD_MILLISECONDS);
  }

  /** Begins no more attempts. */
  stop(): void {
    this.#stopped = true;
    this.#cancelPause?.();
  }

  /**
   * Takes back deliveries that waited too long for a slot (all of them once stopped), and those that could not be sent.
   */
  takeStale(): Job[] {
    const stale = this.#unsent.splice(0);
    for (const queue of this.#tools.queues.all()) {
      const [first] = queue.ahead;
      if (first === undefined || !(this.#stopped || this.#ageOf(first) >= AHEAD_MILLISECONDS)) continue;
      const jobs = queue.ahead.splice(0);
      for (const job of jobs) this.#drop(job, queue);
      stale.push(...jobs);
    }
    return stale;
  }

  /** Attempts in flight whose start is not in the database yet. */
  unmarked(): { job: Job; at: number }[] {
    const found: { job: Job; at: number }[] = [];
    for (const [job, at] of this.#onWire) if (!job.isMarkedBegun) found.push({ job, at });
    return found;
  }

  #ageOf(job: Job): number {
    return this.#tools.clock.elapsed() - job.claimedAt;
  }

  #drop(job: Job, queue: EndpointQueue): void {
    queue.bytes -= job.body.length;
    this.#tools.bodies.release(job.delivery.event_id);
    this.#tools.queues.bodyDropped();
  }

  #begin(queue: EndpointQueue, maxAge: number): void {
    while (
      !this.#stopped &&
      this.#cancelPause === undefined &&
      queue.ahead.length > 0 &&
      this.#tools.queues.slotsFor(queue, this.#tools.max - this.#unsettled) > 0
    ) {
      // The next turn releases it.
      if (this.#ageOf(queue.ahead[0]!) >= maxAge) return;
      const job = queue.ahead.shift()!;
      const at = Math.floor(job.claimedTime + this.#ageOf(job));
      queue.open += 1;
      this.#onWire.set(job, at);
      this.#unsettled += 1;
      this.#tools.sender.attempt(job, at, (finished) => {
        queue.open -= 1;
        this.#onWire.delete(job);
        this.#drop(job, queue);
        if (finished === undefined) this.#pause(job);
        else {
          this.#tools.queues.attemptEnded(queue, finished.outcome.duration_ms);
          this.#finished.push(finished);
        }
        this.#begin(queue, AHEAD_MILLISECONDS);
        this.#tools.ended();
      });
    }
  }

  #pause(job: Job): void {
    this.#unsettled -= 1;
    this.#unsent.push(job);
    if (this.#cancelPause !== undefined || this.#stopped) return;
    this.#cancelPause = this.#tools.clock.after(PAUSE_MILLISECONDS, () => {
      this.#cancelPause = undefined;
      this.#tools.ended();
    });
    this.#tools.paused();
  }
}
