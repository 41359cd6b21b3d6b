import type { Services } from "../services.ts";
import { StorageUnavailableError, type Transaction } from "../storage/database.ts";
import { giveBack, hasLapsedLease, queueHeads, releaseAll, releaseLapsed } from "../storage/delivery-queue.ts";
import { letGoOfClocks } from "../storage/environments.ts";
import { claimDue, LEASE_MILLISECONDS } from "./claim.ts";
import type { Courier, Finished, Job } from "./courier.ts";
import { recordFinished, reportFinished } from "./record.ts";
import type { SecretOpener } from "./secret-opener.ts";
import { type DeliveryLimits, Lanes } from "./lanes.ts";

/** The queue is looked at this often, whatever wakes come: they may get lost between processes. */
const POLL_MILLISECONDS = 250;
/** Turns follow each other no sooner, so that they gather work to share a commit, unless half of all attempts have ended. */
const TURN_MILLISECONDS = 5;
const RELEASE_MOST = 500;

/**
 * Attempts what is due. In turns: one transaction records the attempts that ended and claims as many deliveries as there
 * are free slots, endpoint by endpoint, so that the queue of one never stands before another's.
 */
export class DeliveryWorker {
  private readonly services: Services;
  private readonly courier: Courier;
  private readonly opener: SecretOpener;
  private readonly limits: DeliveryLimits;
  /** Begins every lease token of this process. */
  private readonly owner: string;
  private readonly lanes: Lanes;
  private finished: Finished[] = [];
  /** Claimed and not yet recorded. */
  private unsettled = 0;
  private onWire = 0;
  private claims = 0;
  /** The queue may have changed. */
  private stale = true;
  private lapsed = false;
  /** When the next delivery is due that was not yet so, in real time. */
  private nextDue = Infinity;
  private turning = false;
  private lastTurn = 0;
  private cancelTimer: (() => void) | undefined;
  private timerIsShort = false;
  private unsubscribe: () => void = () => {};
  private stopped: (() => void) | undefined;

  constructor(services: Services, courier: Courier, opener: SecretOpener, limits: DeliveryLimits) {
    this.services = services;
    this.courier = courier;
    this.opener = opener;
    this.limits = limits;
    this.lanes = new Lanes(limits);
    this.owner = Buffer.from(services.random.bytes(12)).toString("base64url");
  }

  async start(): Promise<void> {
    const { database } = this.services;
    // An SQLite file is open in one process only: whoever held a lease is dead.
    if (database.dialect === "sqlite") {
      await database.write(async (tx) => {
        await releaseAll(tx);
        await letGoOfClocks(tx);
      });
    }
    this.unsubscribe = database.onWake("deliveries", () => {
      this.stale = true;
      this.plan();
    });
    this.plan();
  }

  /** Claims nothing more; resolves when the attempts under way have ended and are recorded. */
  async stop(): Promise<void> {
    this.unsubscribe();
    await new Promise<void>((resolve) => {
      this.stopped = resolve;
      this.plan();
    });
    this.cancelTimer?.();
  }

  /** Sees to it that the next turn comes: now, soon, or when the queue is to be looked at again. */
  private plan(): void {
    if (this.turning) return;
    if (this.stopped !== undefined && this.onWire === 0 && this.finished.length === 0) return this.stopped();
    if (this.finished.length === 0 && !this.canClaim()) return this.setTimer(this.idleMilliseconds(), false);
    const wait = this.lastTurn + TURN_MILLISECONDS - this.services.clock.now();
    // A clock that was set back must not hold everything up.
    if (wait <= 0 || wait > TURN_MILLISECONDS || this.finished.length * 2 >= this.unsettled) return this.turn();
    this.setTimer(wait, true);
  }

  private canClaim(): boolean {
    if (this.stopped !== undefined) return false;
    return this.stale || this.lanes.canClaim(this.limits.perProcess - this.unsettled);
  }

  private idleMilliseconds(): number {
    return Math.min(POLL_MILLISECONDS, Math.max(1, this.nextDue - this.services.clock.now()));
  }

  /** A short timer goes before a long one; otherwise the one that runs stays. */
  private setTimer(milliseconds: number, short: boolean): void {
    if (this.cancelTimer !== undefined && (this.timerIsShort || !short)) return;
    this.cancelTimer?.();
    this.timerIsShort = short;
    this.cancelTimer = this.services.clock.after(milliseconds, () => {
      this.cancelTimer = undefined;
      if (!short) this.stale = true;
      if (!this.turning) this.turn();
    });
  }

  private turn(): void {
    this.turning = true;
    this.lastTurn = this.services.clock.now();
    this.cancelTimer?.();
    this.cancelTimer = undefined;
    this.takeTurn().then(
      () => {
        this.turning = false;
        this.plan();
      },
      (error: unknown) => {
        // A database that takes no writes has said so itself.
        if (!(error instanceof StorageUnavailableError)) {
          this.services.log.error({ err: error }, "deliveries could not be claimed or recorded");
        }
        this.turning = false;
        // What could not be recorded is attempted again after the next start.
        if (this.stopped !== undefined && this.onWire === 0) this.stopped();
        else this.setTimer(POLL_MILLISECONDS, false);
      },
    );
  }

  private async takeTurn(): Promise<void> {
    const { database, report, clock } = this.services;
    if (this.stale && this.stopped === undefined) await this.look();
    if (this.finished.length === 0 && !this.lapsed && !this.canClaim()) return;
    const finished = this.finished;
    this.finished = [];
    const token = `${this.owner}.${(this.claims += 1)}`;
    const unit = async (tx: Transaction) => {
      const disabled = await recordFinished(tx, finished);
      if (this.lapsed) await releaseLapsed(tx, clock.now(), this.owner, RELEASE_MOST);
      return { disabled, ...(await this.claim(tx, token, finished.length)) };
    };
    const { disabled, abandoned, jobs } = await database.write(unit).catch((error: unknown) => {
      this.finished.unshift(...finished);
      throw error;
    });
    this.unsettled -= finished.length;
    this.lapsed = false;
    reportFinished(report, finished, disabled);
    reportFinished(report, abandoned, []);
    if (jobs.length > 0) await this.begin(jobs, token);
  }

  /** Learns which endpoints have deliveries that are due. */
  private async look(): Promise<void> {
    const { database, clock } = this.services;
    this.stale = false;
    this.nextDue = Infinity;
    const now = clock.now();
    const ready: { endpointId: string; environment: number; due: number }[] = [];
    for (const head of await queueHeads(database)) {
      if (head.endpoint_status === "disabled" || head.clock_held_until > now) continue;
      const due = head.endpoint_status === null ? now : head.due - head.clock_offset;
      if (due > now) this.nextDue = Math.min(this.nextDue, due);
      else ready.push({ endpointId: head.endpoint_id, environment: head.environment, due });
    }
    this.lanes.update(ready);
    this.lapsed = await hasLapsedLease(database, now, this.owner);
  }

  private async claim(tx: Transaction, token: string, settled: number) {
    const { database, clock } = this.services;
    const jobs: Job[] = [];
    const abandoned: Finished[] = [];
    if (this.stopped !== undefined) return { jobs, abandoned };
    const now = clock.now();
    const claimant = {
      dialect: database.dialect,
      opener: this.opener,
      lease: { token, until: now + LEASE_MILLISECONDS },
    };
    for (const lane of this.lanes.ready()) {
      const free = this.limits.perProcess - this.unsettled + settled - jobs.length;
      const slots = this.lanes.slotsFor(lane, free);
      if (slots === 0) continue;
      const claim = await claimDue(tx, claimant, { environment: lane.environment, id: lane.endpointId }, now, slots);
      lane.ready = claim.full;
      jobs.push(...claim.jobs);
      abandoned.push(...claim.abandoned);
      lane.due = claim.lastDue;
    }
    await recordFinished(tx, abandoned);
    return { jobs, abandoned };
  }

  private async begin(jobs: readonly Job[], token: string): Promise<void> {
    if (this.stopped !== undefined) {
      await this.services.database.write((tx) => giveBack(tx, token));
      return;
    }
    this.unsettled += jobs.length;
    for (const job of jobs) {
      const end = this.lanes.begin(job.destination.endpointId);
      this.onWire += 1;
      this.courier.attempt(job, (finished) => {
        end();
        this.onWire -= 1;
        this.finished.push(finished);
        this.plan();
      });
    }
  }
}
