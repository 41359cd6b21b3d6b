import type { Clock } from "../ports.ts";
import type { Courier, Finished, Job } from "./courier.ts";
import type { Lane, Lanes } from "./lanes.ts";

/** What was claimed is begun this soon or given back: by then its lease, its endpoint's URL and secrets may be old. */
const AHEAD_MILLISECONDS = 1000;

/** The attempts of this process, from their claim until they are recorded. */
export class UnderWay {
  private readonly courier: Courier;
  private readonly lanes: Lanes;
  private readonly clock: Clock;
  private readonly most: number;
  private readonly ended: () => void;
  private finished: Finished[] = [];
  private onWire = 0;
  /** Begun and not yet recorded. */
  private unsettled = 0;
  private stopped = false;

  /** `ended` is called after each attempt; `most` may be unsettled at once. */
  constructor(courier: Courier, lanes: Lanes, clock: Clock, most: number, ended: () => void) {
    this.courier = courier;
    this.lanes = lanes;
    this.clock = clock;
    this.most = most;
    this.ended = ended;
  }

  /** How many more may begin, once what has ended is recorded. */
  get free(): number {
    return this.most - this.unsettled + this.finished.length;
  }

  /** True when no attempt is under way and none waits to be recorded. */
  get idle(): boolean {
    return this.onWire === 0 && this.finished.length === 0;
  }

  get hasFinished(): boolean {
    return this.finished.length > 0;
  }

  /** True when waiting for more attempts to end before recording would leave the wire empty. */
  get hungry(): boolean {
    return this.onWire === 0 || this.finished.length * 2 >= this.most;
  }

  /** Begins what was claimed, as far as there are slots, and the rest as they become free. */
  add(jobs: readonly Job[]): void {
    const lanes = new Set<Lane>();
    for (const job of jobs) {
      const lane = this.lanes.of(job.destination.endpointId);
      lane.ahead.push(job);
      lanes.add(lane);
    }
    for (const lane of lanes) this.begin(lane);
  }

  /** What has ended, to be recorded: then call `settle`, or `putBack` where that failed. */
  take(): Finished[] {
    return this.finished.splice(0);
  }

  putBack(finished: readonly Finished[]): void {
    this.finished.unshift(...finished);
  }

  settle(count: number): void {
    this.unsettled -= count;
    for (const lane of this.lanes.all()) if (lane.ahead.length > 0) this.begin(lane);
  }

  /** Begins nothing more. */
  stop(): void {
    this.stopped = true;
  }

  /** Takes back what has waited for a slot for too long, or all of it once stopped. */
  takeStale(): Job[] {
    const now = this.clock.now();
    const stale: Job[] = [];
    for (const lane of this.lanes.all()) {
      const [first] = lane.ahead;
      if (first === undefined) continue;
      if (this.stopped || now - first.claimedAt >= AHEAD_MILLISECONDS) stale.push(...lane.ahead.splice(0));
    }
    return stale;
  }

  private begin(lane: Lane): void {
    while (!this.stopped && lane.ahead.length > 0 && this.lanes.slotsFor(lane, this.most - this.unsettled) > 0) {
      const job = lane.ahead.shift()!;
      lane.open += 1;
      this.onWire += 1;
      this.unsettled += 1;
      this.courier.attempt(job, this.clock.now() + job.clockOffset, (finished) => {
        lane.open -= 1;
        lane.ended += 1;
        this.onWire -= 1;
        this.finished.push(finished);
        this.begin(lane);
        this.ended();
      });
    }
  }
}
