import { pause } from "../../network/clock.ts";
import { type PartOf, StorageUnavailableError, type Transaction } from "../storage/database.ts";
import {
  type AdvanceCounts,
  type ClockAdvance,
  countAttempts,
  endAdvance,
  findAdvance,
} from "../storage/clock-advances.ts";
import {
  hasLapsedLease,
  hasLeased,
  type Lease,
  leaseTime,
  releaseLeases,
  releaseTokens,
} from "../storage/delivery-queue.ts";
import { findEnvironment, keepClock, moveClock, releaseClock } from "../storage/environments.ts";
import { findTarget } from "../storage/webhook-endpoints.ts";
import { AdvanceSlots, type AdvanceTotal, planShares } from "./advance-plan.ts";
import { claimAt, claimEnded, LEASE_MILLISECONDS } from "./claim.ts";
import { type Finished, type Job, toLease } from "./sender.ts";
import { BodyClaim } from "./event-bodies.ts";
import { recordAttempts, recordFinished, reportFinished, takeOverLapsed, writeAttempts } from "./record.ts";
import type { DeliveryTools } from "./worker.ts";

const POLL_AGAIN_MILLISECONDS = 10;
/** Outcomes of attempts that finish within this time share a transaction. */
const GATHER_MILLISECONDS = 5;
/** The hold is renewed, and cancellation checked, at least this often. */
const RENEW_MILLISECONDS = 1000;
const STORAGE_PAUSE_MILLISECONDS = 250;
const UNSENT_PAUSE_MILLISECONDS = 1000;
/** How long a stop keeps trying to record the last outcomes. */
const GIVE_UP_MILLISECONDS = 2000;
const MAX_END = 250;
/**
 * Deliveries that are due but cannot be claimed for this long are left to the worker, because another process holds
 * them.
 */
const EMPTY_MILLISECONDS = 1000;

/** The result of one transaction of the run. */
interface Step {
  /** `lost`: another process moves the clock now, or none does. */
  state: "going" | "over" | "stopped" | "lost";
  disabled: string[];
  abandoned: Finished[];
  jobs: Job[];
  offset: number;
  /** True if something was due, even if none of it could be claimed. */
  wasDue: boolean;
}

/**
 * Carries out one advance of a test clock while this process holds the clock: attempts everything that becomes due on
 * the way, each at its own time. Attempts run concurrently as long as no retry of one can be due before another begins.
 * So the order is that of real time, and a step of the schedule takes as long as its slowest attempt.
 */
export class ClockRun {
  readonly #tools: DeliveryTools;
  readonly #slots: AdvanceSlots;
  readonly #environment: number;
  readonly #number: number;
  readonly #holder: string;
  /** Resolves once the run is over, for any reason. Never rejects. */
  readonly ended: Promise<void>;
  #advance!: ClockAdvance;
  /** The environment's time when the run began. What was due before is attempted at this time. */
  #begin = 0;
  #offset = 0;
  #steps = 0;
  #stopping = false;
  /** Attempts in flight, with the environment's time at which each began. */
  readonly #inFlight = new Map<Job, number>();
  #finished: Finished[] = [];
  #unsent: Job[] = [];
  /** Tokens of claims whose commit is uncertain. */
  #doubtful: string[] = [];
  #emptySince: number | undefined;
  #signal: () => void = () => {};

  constructor(
    tools: DeliveryTools,
    total: AdvanceTotal,
    { environment, number, holder }: { environment: number; number: number; holder: string },
  ) {
    this.#tools = tools;
    this.#slots = new AdvanceSlots(tools.limits, total);
    this.#environment = environment;
    this.#number = number;
    this.#holder = holder;
    // If it fails, it holds no leases yet. Another process, or this one, takes over.
    this.ended = tools.background.run("clock_advance", { environment }, () => this.#run());
  }

  /** Lets attempts in flight finish, then stops. */
  stop(): void {
    this.#stopping = true;
    this.#signal();
  }

  async #run(): Promise<void> {
    if (!(await this.#start())) return;
    let giveUpAt: number | undefined;
    for (;;) {
      const step = await this.#step();
      if (step === undefined) {
        const now = this.#tools.clock.elapsed();
        if (this.#stopping && this.#inFlight.size === 0) giveUpAt ??= now + GIVE_UP_MILLISECONDS;
        if (giveUpAt !== undefined && now >= giveUpAt) return;
        await pause(this.#tools.clock, STORAGE_PAUSE_MILLISECONDS);
        continue;
      }
      if (step.state === "over") return;
      if (step.state !== "going" && this.#inFlight.size === 0 && this.#finished.length === 0) return;
      if (step.state === "going" && (await this.#hasMore(step))) continue;
      await this.#untilAttemptEnds();
    }
  }

  /** Waits for the attempts of other processes to finish. Returns false if there is nothing left to do. */
  async #start(): Promise<boolean> {
    const { database, clock, report } = this.#tools;
    const environment = this.#environment;
    // Attempts that began before the clock was held belong to the time before. Those of dead processes never finish.
    while (await hasLeased(database, environment)) {
      if (this.#stopping) break;
      if (await hasLapsedLease(database, await leaseTime(database, clock.now), this.#tools.owner)) {
        const takeOver = (tx: Transaction) => takeOverLapsed(tx, this.#tools);
        reportFinished(report, await database.write(takeOver, { isolation: "read committed" }), []);
      }
      await pause(this.#tools.clock, POLL_AGAIN_MILLISECONDS);
    }
    const advance = await findAdvance(database, environment, this.#number);
    if (advance === undefined) return false;
    this.#advance = advance;
    return database.write(
      async (tx) => {
        const now = await leaseTime(tx, clock.now);
        if (!(await keepClock(tx, environment, this.#holder, now))) return false;
        // The advance was canceled before the hold began.
        const isRunning = (await findAdvance(tx, environment, this.#number))?.status === "running";
        if (!isRunning) await releaseClock(tx, environment);
        this.#offset = (await findEnvironment(tx, environment)).clock_offset;
        this.#begin = now + this.#offset;
        return isRunning;
      },
      { isolation: "read committed" },
    );
  }

  /**
   * Records finished attempts and begins due ones. Returns undefined if the database could not record them: then call
   * again.
   */
  async #step(): Promise<Step | undefined> {
    const { background, report } = this.#tools;
    const finished = this.#finished.splice(0);
    const unsent = this.#unsent.splice(0);
    // What ends from here on is recorded by the next step, so for this one it is still in flight.
    const inFlight = new Map(this.#inFlight);
    const tokens: string[] = [];
    let step: Step;
    try {
      step = await writeAttempts(this.#tools, "clock_advance", finished, (tx, partOf, inTime) =>
        this.#write(tx, partOf, { finished: inTime, unsent, inFlight, tokens }),
      );
    } catch (error) {
      // Only this run can record its attempts and release its leases, so it continues after any failure.
      background.failed("clock_advance", { environment: this.#environment }, error);
      this.#finished.unshift(...finished);
      this.#unsent.unshift(...unsent);
      // The connection was lost during the commit, so some deliveries may be leased but never attempted.
      if (error instanceof StorageUnavailableError && error.uncertain) this.#doubtful.push(...tokens);
      return undefined;
    }
    this.#offset = step.offset;
    this.#doubtful = [];
    reportFinished(report, finished, step.disabled);
    reportFinished(report, step.abandoned, []);
    for (const job of step.jobs) this.#attempt(job);
    // File descriptors may be free again later.
    if (unsent.length > 0 && step.state === "going") await pause(this.#tools.clock, UNSENT_PAUSE_MILLISECONDS);
    return step;
  }

  async #write(
    tx: Transaction,
    partOf: PartOf,
    state: { finished: readonly Finished[]; unsent: Job[]; inFlight: Map<Job, number>; tokens: string[] },
  ): Promise<Step> {
    const environment = this.#environment;
    const number = this.#number;
    const { inFlight } = state;
    const step: Step = {
      state: "going",
      disabled: await recordAttempts(tx, state.finished, this.#tools, partOf),
      abandoned: [],
      jobs: [],
      offset: this.#offset,
      wasDue: false,
    };
    await releaseTokens(tx, this.#doubtful);
    await releaseLeases(tx, state.unsent.map(toLease));
    const now = await leaseTime(tx, this.#tools.clock.now);
    const isHeld = await keepClock(tx, environment, this.#holder, now);
    // Attempts count even if the advance was canceled meanwhile, or is continued by another process.
    if (state.finished.length > 0) await countAttempts(tx, environment, number, countsOf(state.finished));
    if (!isHeld) return { ...step, state: "lost" };
    if (this.#stopping) {
      // Another process takes over at once, or this one after its restart.
      if (inFlight.size === 0) await releaseClock(tx, environment);
      return { ...step, state: "stopped" };
    }
    const token = `${this.#holder}.${(this.#steps += 1)}`;
    state.tokens.push(token);
    await this.#claim(tx, partOf, step, inFlight, { token, until: now + LEASE_MILLISECONDS });
    const latest = Math.max(...step.jobs.map((job) => this.#timeOf(job)));
    step.offset = Math.min(this.#advance.target_offset, Math.max(this.#offset, latest - now));
    if (!step.wasDue && inFlight.size === 0 && step.abandoned.length === 0) {
      const { target_offset: offset } = this.#advance;
      step.state = "over";
      step.offset = offset;
      await endAdvance(tx, environment, { status: "succeeded", at: now + offset, offset });
      await releaseClock(tx, environment);
      tx.notify("deliveries");
    }
    if (step.offset !== this.#offset) await moveClock(tx, environment, step.offset);
    return step;
  }

  async #claim(tx: Transaction, partOf: PartOf, step: Step, inFlight: Map<Job, number>, lease: Lease) {
    const { clock } = this.#tools;
    const endsAt = this.#advance.ends_at;
    const plan = { begin: this.#begin, endsAt, inFlight, slots: this.#slots };
    const shares = await planShares(tx, this.#environment, plan);
    step.wasDue = shares.size > 0 && !this.#isEmptyForLong();
    const claimant = { opener: this.#tools.opener, lease, bodies: new BodyClaim(this.#tools.bodies, true) };
    for (const [id, { count, dueBy }] of shares) {
      const target = await findTarget(tx, this.#environment, id);
      if (target === undefined) continue;
      const time = { now: this.#begin, dueBy, elapsed: clock.elapsed(), mayExpire: true };
      const limits = { count, begin: count, reservedBytes: 0 };
      const claim = await partOf(id, () => claimAt(tx, claimant, target, time, limits));
      if (claim === undefined) continue;
      step.jobs.push(...claim.jobs);
      step.abandoned.push(...claim.abandoned);
    }
    if (shares.size === 0 && inFlight.size === 0) {
      step.abandoned.push(...(await claimEnded(tx, lease, this.#environment, endsAt, MAX_END)));
    }
    await recordFinished(tx, step.abandoned);
  }

  #timeOf(job: Job): number {
    return Math.max(this.#begin, job.delivery.next_attempt);
  }

  #attempt(job: Job): void {
    const { sender, bodies } = this.#tools;
    const { event_id: eventId } = job.delivery;
    const { id: endpointId } = job.destination.target;
    const at = this.#timeOf(job);
    job.body = bodies.retain(eventId, job.body);
    this.#inFlight.set(job, at);
    this.#slots.begin(endpointId);
    sender.attempt(job, at, (finished) => {
      bodies.release(eventId);
      this.#inFlight.delete(job);
      this.#slots.end(endpointId, finished?.outcome.duration_ms);
      if (finished === undefined) this.#unsent.push(job);
      else this.#finished.push(finished);
      this.#signal();
    });
  }

  #isEmptyForLong(): boolean {
    return this.#emptySince !== undefined && this.#tools.clock.elapsed() - this.#emptySince >= EMPTY_MILLISECONDS;
  }

  /** Returns whether the next step follows at once. Pauses if due deliveries could not be claimed. */
  async #hasMore({ jobs, abandoned, wasDue }: Step): Promise<boolean> {
    if (jobs.length > 0 || abandoned.length > 0 || this.#inFlight.size > 0) {
      this.#emptySince = undefined;
      return this.#inFlight.size === 0;
    }
    if (wasDue) {
      this.#emptySince ??= this.#tools.clock.elapsed();
      await pause(this.#tools.clock, POLL_AGAIN_MILLISECONDS);
    }
    return true;
  }

  async #untilAttemptEnds(): Promise<void> {
    if (this.#finished.length === 0 && this.#unsent.length === 0) {
      await new Promise<void>((resolve) => {
        const cancel = this.#tools.clock.after(RENEW_MILLISECONDS, resolve);
        this.#signal = () => {
          cancel();
          resolve();
        };
      });
      this.#signal = () => {};
    }
    if (this.#inFlight.size > 0) await pause(this.#tools.clock, GATHER_MILLISECONDS);
  }
}

function countsOf(attempts: readonly Finished[]): AdvanceCounts {
  const succeeded = attempts.filter(({ outcome }) => outcome.status === "succeeded").length;
  return { attempts: attempts.length, succeeded, failed: attempts.length - succeeded };
}
