import type { With } from "../tools.ts";
import { type PartOf, StorageUnavailableError, type Transaction } from "../storage/database.ts";
import {
  findAllLeased,
  hasLapsedLease,
  markStarted,
  leaseTime,
  queueHeads,
  releaseLeases,
  releaseTokens,
} from "../storage/delivery-queue.ts";
import { isClockHeld, releaseClocks } from "../storage/environments.ts";
import { claimDue, findWaiting, LEASE_MILLISECONDS, NOTHING, type SecretOpener } from "./claim.ts";
import { type DeliverySender, type Finished, type Job, toLease } from "./sender.ts";
import { BodyClaim, type EventBodies } from "./event-bodies.ts";
import { type DeliveryLimits, type EndpointQueue, EndpointQueues } from "./endpoint-queues.ts";
import {
  type EmitTools,
  recordAttempts,
  recordFinished,
  reportFinished,
  takeOver,
  takeOverLapsed,
  writeAttempts,
} from "./record.ts";
import { InFlight } from "./in-flight.ts";

/**
 * The queue is checked this often even without a notification, because notifications between processes may get lost.
 */
const POLL_MILLISECONDS = 250;
/**
 * Time between the starts of turns, so that work accumulates to share a commit, unless the worker would be idle: the
 * longer a turn takes, such as on a slow disk, the longer until the next.
 */
const MIN_INTERVAL_MILLISECONDS = 5;
const MAX_INTERVAL_MILLISECONDS = 25;
const INTERVAL_PER_TURN = 4;
/** How long a stop keeps trying to record outcomes after its last attempt has finished. */
const GIVE_UP_MILLISECONDS = 2_000;

const WARN_AGAIN_MILLISECONDS = 3_600_000;

interface Claimed {
  jobs: Job[];
  abandoned: Finished[];
  /** The state of the queues once that is committed. */
  queues: (Pick<EndpointQueue, "ready" | "starved" | "due" | "ended"> & { queue: EndpointQueue })[];
}

export type RecordTools = EmitTools &
  With<"database" | "clock" | "clockTrust" | "random" | "log" | "background" | "report">;

/** What the worker and the test clock share: the sender and the limits of this process. */
export interface DeliveryTools extends RecordTools {
  sender: DeliverySender;
  opener: SecretOpener;
  bodies: EventBodies;
  limits: DeliveryLimits;
  /** The prefix of this process's lease tokens. Only this process knows whether their attempts still run. */
  owner: string;
}

/**
 * Attempts due deliveries. It works in turns: one transaction records finished attempts and claims as many deliveries
 * as there are free slots, endpoint by endpoint, so that the queue of one endpoint never delays another's.
 */
export class DeliveryWorker {
  readonly #tools: DeliveryTools;
  readonly #queues: EndpointQueues;
  readonly #inFlight: InFlight;
  #claims = 0;
  /** True if the queue may have changed since it was read. */
  #stale = true;
  #lapsed = false;
  /** Leased jobs that never began, to be released. */
  #notStarted: Job[] = [];
  /** Tokens of claims whose commit is uncertain. */
  #doubtful: string[] = [];
  /** When the next delivery becomes due, in real time. */
  #nextDue = Infinity;
  #turning = false;
  #lastTurn = -Infinity;
  /** Time from its start until the next turn. */
  #interval = MIN_INTERVAL_MILLISECONDS;
  #cancelTimer: (() => void) | undefined;
  #timerIsShort = false;
  #unsubscribe: () => void = () => {};
  #stopped: (() => void) | undefined;
  /** Deadline for a stop to record the last outcomes, on the monotonic clock. */
  #giveUpAt: number | undefined;
  #warnedAt = -Infinity;

  constructor(tools: DeliveryTools) {
    this.#tools = tools;
    this.#queues = new EndpointQueues(tools.limits);
    this.#inFlight = new InFlight({
      ...tools,
      queues: this.#queues,
      max: tools.limits.perProcess,
      ended: () => this.#plan(),
      paused: () => this.#warnOfDescriptors(),
    });
  }

  async start(): Promise<void> {
    const { database, clock, clockTrust, random, report } = this.#tools;
    // Only one process opens an SQLite file, so any other holder of a lease is dead.
    if (database.dialect === "sqlite") {
      const interrupted = await database.write(async (tx) => {
        await releaseClocks(tx);
        const now = clock.now();
        return takeOver(tx, await findAllLeased(tx), { now, random, mayExpire: clockTrust.isTrusted() });
      });
      reportFinished(report, interrupted, []);
    }
    this.#unsubscribe = database.subscribe("deliveries", () => {
      this.#stale = true;
      this.#plan();
    });
    this.#plan();
  }

  /** Claims nothing more. Resolves when the attempts in flight have finished and are recorded. */
  async stop(): Promise<void> {
    this.#unsubscribe();
    this.#inFlight.stop();
    await new Promise<void>((resolve) => {
      this.#stopped = resolve;
      this.#plan();
    });
    this.#cancelTimer?.();
    const leased = [...this.#notStarted, ...this.#inFlight.takeStale()].map(toLease);
    if (leased.length === 0) return;
    await this.#tools.database
      .write((tx) => releaseLeases(tx, leased))
      .catch((error: unknown) => {
        // Other processes take them over once their leases have expired.
        if (!(error instanceof StorageUnavailableError)) throw error;
      });
  }

  /** Schedules the next turn: now, soon, or at the next check of the queue. */
  #plan(): void {
    if (this.#turning) return;
    if (this.#stopped !== undefined && this.#inFlight.idle) return this.#stopped();
    if (!this.#inFlight.hasFinished && !this.#canClaim()) return this.#setTimer(this.#idleMilliseconds(), false);
    const wait = this.#lastTurn + this.#interval - this.#tools.clock.elapsed();
    if (wait <= 0 || this.#inFlight.isMostlyIdle) return this.#turn();
    this.#setTimer(wait, true);
  }

  #canClaim(): boolean {
    if (this.#stopped !== undefined) return false;
    return this.#stale || this.#queues.canClaim(this.#inFlight.free);
  }

  #idleMilliseconds(): number {
    return Math.min(POLL_MILLISECONDS, Math.max(1, this.#nextDue - this.#tools.clock.now()));
  }

  /** A short timer replaces a long one; otherwise the running one stays. */
  #setTimer(milliseconds: number, short: boolean): void {
    if (this.#cancelTimer !== undefined && (this.#timerIsShort || !short)) return;
    this.#cancelTimer?.();
    this.#timerIsShort = short;
    this.#cancelTimer = this.#tools.clock.after(milliseconds, () => {
      this.#cancelTimer = undefined;
      if (!short) this.#stale = true;
      if (!this.#turning) this.#turn();
    });
  }

  #turn(): void {
    this.#turning = true;
    this.#lastTurn = this.#tools.clock.elapsed();
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#takeTurn().then(
      () => {
        const took = this.#tools.clock.elapsed() - this.#lastTurn;
        this.#interval = Math.min(
          MAX_INTERVAL_MILLISECONDS,
          Math.max(MIN_INTERVAL_MILLISECONDS, INTERVAL_PER_TURN * took),
        );
        this.#turning = false;
        this.#plan();
      },
      (error: unknown) => {
        this.#tools.background.failed("delivery", {}, error);
        this.#turning = false;
        this.#stale = true;
        if (this.#stopped !== undefined && this.#mayGiveUp()) this.#stopped();
        else this.#setTimer(POLL_MILLISECONDS, false);
      },
    );
  }

  /**
   * Returns true if a stop no longer waits for outcomes that cannot be recorded. They are attempted again after the
   * next start.
   */
  #mayGiveUp(): boolean {
    if (this.#inFlight.idle) return true;
    if (this.#inFlight.isSending) return false;
    const now = this.#tools.clock.elapsed();
    this.#giveUpAt ??= now + GIVE_UP_MILLISECONDS;
    return now >= this.#giveUpAt;
  }

  async #takeTurn(): Promise<void> {
    const { report, owner } = this.#tools;
    const inFlight = this.#inFlight;
    if (this.#stale && this.#stopped === undefined) await this.#poll();
    this.#notStarted.push(...inFlight.takeStale());
    const notStarted = this.#notStarted;
    const hasChanges = inFlight.hasFinished || notStarted.length > 0 || inFlight.unmarked().length > 0;
    if (!hasChanges && !this.#lapsed && !this.#canClaim()) return;
    const { free } = inFlight;
    const finished = inFlight.take();
    const started = inFlight.unmarked();
    const tried: string[] = [];
    const unit = async (tx: Transaction, partOf: PartOf, inTime: readonly Finished[]) => {
      const token = `${owner}.${(this.#claims += 1)}`;
      tried.push(token);
      const interrupted = this.#lapsed ? await takeOverLapsed(tx, this.#tools) : [];
      // Sent together, so that none waits for another's result. They run in order: the claim comes after the releases.
      const recorded = recordAttempts(tx, inTime, this.#tools, partOf);
      const [disabled, , , claimed] = await Promise.all([
        recorded,
        releaseTokens(tx, this.#doubtful),
        releaseLeases(tx, notStarted.map(toLease)),
        this.#claim(tx, { token, free, recorded, partOf }),
        markStarted(
          tx,
          started.map(({ job, at }) => ({ ...toLease(job), at })),
        ),
      ]);
      return { disabled, interrupted, ...claimed };
    };
    const written = await writeAttempts(this.#tools, "delivery", finished, unit).catch((error: unknown) => {
      inFlight.putBack(finished);
      // The connection was lost during the commit: the deliveries may be leased but never attempted.
      if (error instanceof StorageUnavailableError && error.uncertain) this.#doubtful.push(...tried);
      throw error;
    });
    const { disabled, interrupted, abandoned, jobs } = written;
    for (const { queue, ...change } of written.queues) Object.assign(queue, change);
    for (const { job } of started) job.isMarkedBegun = true;
    this.#doubtful = [];
    this.#lapsed = false;
    this.#notStarted = [];
    reportFinished(report, finished, disabled);
    reportFinished(report, [...interrupted, ...abandoned], []);
    inFlight.settle(finished.length);
    inFlight.add(jobs);
  }

  #warnOfDescriptors(): void {
    const now = this.#tools.clock.elapsed();
    if (now - this.#warnedAt < WARN_AGAIN_MILLISECONDS) return;
    this.#warnedAt = now;
    this.#tools.log.warn(
      {},
      "deliveries wait because no file descriptors are left for connections: raise the limit of open files (ulimit -n)",
    );
  }

  /** Finds the endpoints that have due deliveries. */
  async #poll(): Promise<void> {
    const { database, clock } = this.#tools;
    this.#stale = false;
    this.#nextDue = Infinity;
    const now = await leaseTime(database, clock.now);
    const ready: { endpointId: string; environment: number; due: number }[] = [];
    const heads = await queueHeads(database);
    for (const head of heads) {
      if (head.endpoint_status === "disabled" || isClockHeld(head.clock_held_until, now)) continue;
      const due = head.endpoint_status === null ? now : head.due - head.clock_offset;
      if (due > now) this.#nextDue = Math.min(this.#nextDue, due);
      else ready.push({ endpointId: head.endpoint_id, environment: head.environment, due });
    }
    this.#queues.update(ready, new Set(heads.map(({ endpoint_id: id }) => id)));
    this.#lapsed = await hasLapsedLease(database, now, this.#tools.owner);
  }

  /** Claims due deliveries. Skips endpoints that this turn's outcomes disabled. */
  async #claim(
    tx: Transaction,
    turn: { token: string; free: number; recorded: Promise<readonly string[]>; partOf: PartOf },
  ): Promise<Claimed> {
    const { token, free, recorded, partOf } = turn;
    const { clock, clockTrust, opener } = this.#tools;
    const jobs: Job[] = [];
    const abandoned: Finished[] = [];
    const queues: Claimed["queues"] = [];
    if (this.#stopped !== undefined) return { jobs, abandoned, queues };
    const bodies = new BodyClaim(this.#tools.bodies, false);
    let freeAhead = this.#queues.freeAhead();
    for (let rest = this.#queues.ready(); rest.length > 0;) {
      let available = Math.max(0, free - jobs.length);
      const group = rest.flatMap((queue) => {
        const count = this.#queues.claimable(queue, available, freeAhead);
        const begin = Math.max(0, this.#queues.slotsFor(queue, available) - queue.ahead.length);
        available = Math.max(0, available - count);
        freeAhead = Math.max(0, freeAhead - Math.max(0, count - begin));
        return count === 0 ? [] : [{ queue, limits: { count, begin, reservedBytes: queue.bytes } }];
      });
      if (group.length === 0) break;
      // Requested together; what one endpoint does not need is left for the others.
      const found = group.map(({ queue, limits }) =>
        findWaiting(tx, { environment: queue.environment, id: queue.endpointId }, clock.now, limits.count),
      );
      // Read last, so that none is due later.
      const [now, disabled, ...waiting] = await Promise.all([leaseTime(tx, clock.now), recorded, ...found]);
      const time = { now, elapsed: clock.elapsed(), mayExpire: clockTrust.isTrusted() };
      const claimant = { opener, bodies, lease: { token, until: now + LEASE_MILLISECONDS } };
      const claims = await Promise.all(
        waiting.map(async (one, index) => {
          if (disabled.includes(one.endpoint.id)) return NOTHING;
          const claim = () => claimDue(tx, claimant, one, time, group[index]!.limits);
          return (await partOf(one.endpoint.id, claim)) ?? NOTHING;
        }),
      );
      for (const [index, claim] of claims.entries()) {
        jobs.push(...claim.jobs);
        abandoned.push(...claim.abandoned);
        const { full: ready, starved, lastDue: due } = claim;
        queues.push({ queue: group[index]!.queue, ready, starved, due, ended: 0 });
      }
      rest = rest.filter((queue) => group.every((one) => one.queue !== queue));
    }
    await recordFinished(tx, abandoned);
    return { jobs, abandoned, queues };
  }
}
