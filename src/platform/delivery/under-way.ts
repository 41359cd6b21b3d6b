import { LIMITS } from "../../contract/limits.ts";
import type { ClockTrust } from "../clock-trust.ts";
import type { Clock } from "../ports.ts";
import type { Services } from "../services.ts";
import { LEASE_MILLISECONDS } from "./claim.ts";
import type { Courier, Finished, Job } from "./courier.ts";
import type { EventBodies } from "./event-bodies.ts";
import type { Lane, Lanes } from "./lanes.ts";

/** What waits for a slot begins this soon or is released: later its endpoint's URL and secrets may be outdated. */
const AHEAD_MILLISECONDS = 1000;
/** What was just claimed begins this soon or is released: an attempt that begins later may outlast its lease. */
const FRESH_MILLISECONDS = LEASE_MILLISECONDS - LIMITS.deliverySeconds * 1000;

/** After this long without a file descriptor for a connection, others may have become free. */
const PAUSE_MILLISECONDS = 1000;

/** The attempts of this process, from their claim until they are recorded. */
export class UnderWay {
  readonly #courier: Courier;
  readonly #lanes: Lanes;
  readonly #bodies: EventBodies;
  readonly #clock: Clock;
  readonly #clockTrust: ClockTrust;
  readonly #most: number;
  readonly #ended: () => void;
  readonly #paused: () => void;
  #finished: Finished[] = [];
  /** In flight, with the time at which each began, on its environment's clock. */
  readonly #onWire = new Map<Job, number>();
  /** Begun and not yet recorded. */
  #unsettled = 0;
  #stopped = false;
  /** Could not be sent: to be released. */
  #unsent: Job[] = [];
  /** Ends the pause that a lack of file descriptors brought. */
  #cancelPause: (() => void) | undefined;

  /**
   * `ended` is called after each attempt, and `paused` when none can begin for a while because this process has no file
   * descriptor left; `most` may be unsettled at once.
   */
  constructor(
    { clock, clockTrust }: Pick<Services, "clock" | "clockTrust">,
    { courier, lanes, bodies }: { courier: Courier; lanes: Lanes; bodies: EventBodies },
    most: number,
    { ended, paused }: { ended: () => void; paused: () => void },
  ) {
    this.#courier = courier;
    this.#lanes = lanes;
    this.#bodies = bodies;
    this.#clock = clock;
    this.#clockTrust = clockTrust;
    this.#most = most;
    this.#ended = ended;
    this.#paused = paused;
  }

  /** How many more may begin, once what has ended is recorded. */
  get free(): number {
    if (this.#cancelPause !== undefined) return 0;
    return this.#most - this.#unsettled + this.#finished.length;
  }

  /** True when no attempt is in flight and none waits to be recorded. */
  get idle(): boolean {
    return this.#onWire.size === 0 && this.#finished.length === 0;
  }

  get isSending(): boolean {
    return this.#onWire.size > 0;
  }

  get hasFinished(): boolean {
    return this.#finished.length > 0;
  }

  /** True when waiting for more attempts to end before recording would leave the wire empty. */
  get hungry(): boolean {
    return this.#onWire.size === 0 || this.#finished.length * 2 >= this.#most;
  }

  /** Begins what was claimed, as far as there are slots, and the rest as they become free. */
  add(jobs: readonly Job[]): void {
    const lanes = new Set<Lane>();
    for (const job of jobs) {
      const lane = this.#lanes.of(job.destination.endpointId);
      job.body = this.#bodies.retain(job.delivery.event_id, job.body);
      lane.bytes += job.body.length;
      lane.ahead.push(job);
      lanes.add(lane);
    }
    for (const lane of lanes) this.#begin(lane, FRESH_MILLISECONDS);
  }

  /** What has ended, to be recorded: then call `settle`, or `putBack` where that failed. */
  take(): Finished[] {
    return this.#finished.splice(0);
  }

  putBack(finished: readonly Finished[]): void {
    this.#finished.unshift(...finished);
  }

  settle(count: number): void {
    this.#unsettled -= count;
    for (const lane of this.#lanes.all()) if (lane.ahead.length > 0) this.#begin(lane, AHEAD_MILLISECONDS);
  }

  /** Begins nothing more. */
  stop(): void {
    this.#stopped = true;
    this.#cancelPause?.();
  }

  /** Takes back what has waited for a slot for too long, or all of it once stopped, and what could not be sent. */
  takeStale(): Job[] {
    const stale = this.#unsent.splice(0);
    for (const lane of this.#lanes.all()) {
      const [first] = lane.ahead;
      if (first === undefined || !(this.#stopped || this.#ageOf(first) >= AHEAD_MILLISECONDS)) continue;
      const jobs = lane.ahead.splice(0);
      for (const job of jobs) this.#drop(job, lane);
      stale.push(...jobs);
    }
    return stale;
  }

  /** Attempts in flight whose beginning the database does not know yet. */
  unmarked(): { job: Job; at: number }[] {
    const found: { job: Job; at: number }[] = [];
    for (const [job, at] of this.#onWire) if (!job.isMarkedBegun) found.push({ job, at });
    return found;
  }

  #ageOf(job: Job): number {
    return this.#clock.elapsed() - job.claimedAt;
  }

  #drop(job: Job, lane: Lane): void {
    lane.bytes -= job.body.length;
    this.#bodies.release(job.delivery.event_id);
    this.#lanes.bodyDropped();
  }

  #begin(lane: Lane, maxAge: number): void {
    while (
      !this.#stopped &&
      this.#cancelPause === undefined &&
      lane.ahead.length > 0 &&
      this.#lanes.slotsFor(lane, this.#most - this.#unsettled) > 0
    ) {
      // The next turn releases it.
      if (this.#ageOf(lane.ahead[0]!) >= maxAge) return;
      const job = lane.ahead.shift()!;
      const at = Math.floor(job.claimedTime + this.#ageOf(job));
      job.mayExpire = this.#clockTrust.isTrusted();
      lane.open += 1;
      this.#onWire.set(job, at);
      this.#unsettled += 1;
      this.#courier.attempt(job, at, (finished) => {
        lane.open -= 1;
        this.#onWire.delete(job);
        this.#drop(job, lane);
        if (finished === undefined) this.#pause(job);
        else {
          lane.ended += 1;
          this.#finished.push(finished);
        }
        this.#begin(lane, AHEAD_MILLISECONDS);
        this.#ended();
      });
    }
  }

  #pause(job: Job): void {
    this.#unsettled -= 1;
    this.#unsent.push(job);
    if (this.#cancelPause !== undefined || this.#stopped) return;
    this.#cancelPause = this.#clock.after(PAUSE_MILLISECONDS, () => {
      this.#cancelPause = undefined;
      this.#ended();
    });
    this.#paused();
  }
}
