import type { TestClock } from "../../contract/schemas/test-clock.ts";
import { formatTimestamp } from "../../contract/timestamps.ts";
import { ApiError, invalidFields } from "../domain/api-error.ts";
import type { Services } from "../services.ts";
import type { Transaction } from "../storage/database.ts";
import { findLapsed, firstDue, hasLapsedLease, hasLeased, releaseLeases } from "../storage/delivery-queue.ts";
import { findEnvironment, holdClock, moveClock } from "../storage/environments.ts";
import { enabledEndpoints, findTarget } from "../storage/webhook-endpoints.ts";
import { claimAt, claimEnded, LEASE_MILLISECONDS } from "./claim.ts";
import { type Finished, type Job, toLease } from "./courier.ts";
import { BodyClaim } from "./event-bodies.ts";
import { recordFinished, reportFinished, takeOver } from "./record.ts";
import type { DeliveryTools } from "./worker.ts";

/** Renewed at every step, which lasts as long as an attempt; the first comes when every lease of others has ended. */
const HOLD_MILLISECONDS = 2 * LEASE_MILLISECONDS;
/** Timestamps end with the year 9999; what is scheduled or expires ahead of the clock must still have one. */
const LATEST_TIME = Date.UTC(9000, 0, 1);
const LOOK_AGAIN_MILLISECONDS = 10;
const UNSENT_PAUSE_MILLISECONDS = 1000;
const END_MOST = 250;
const TAKE_OVER_MOST = 500;
/** What is due and cannot be claimed for so long is left to the worker: somebody else holds it. */
const EMPTY_MILLISECONDS = 1000;

export type AdvanceResult = Required<TestClock>;

/** The right to move the clock: whoever holds it is known by when the hold ends. */
interface Hold {
  until: number;
}

interface Tally {
  attempted: number;
  succeeded: number;
  failed: number;
}

/** Moves a sandbox's time, and makes on the way every attempt that falls due, in order, each at its own time. */
export class TestClockAdvancer {
  private readonly services: Services;
  private readonly tools: DeliveryTools;
  private steps = 0;
  private stopping = false;
  private readonly running = new Set<Promise<unknown>>();

  constructor(services: Services, tools: DeliveryTools) {
    this.services = services;
    this.tools = tools;
  }

  /**
   * Resolves when everything that fell due on the way was attempted. Throws ApiError `test_clock_advancing` while the
   * clock is being moved already, `unavailable` where the platform stops meanwhile: then the clock stands where it got.
   */
  advance(environment: number, seconds: number): Promise<AdvanceResult> {
    const run = this.run(environment, seconds).finally(() => this.running.delete(run));
    this.running.add(run);
    return run;
  }

  /** Lets attempts under way end, and goes no further. */
  async stop(): Promise<void> {
    this.stopping = true;
    await Promise.allSettled(this.running);
  }

  private async run(environment: number, seconds: number): Promise<AdvanceResult> {
    const { database, clock } = this.services;
    const start = clock.now();
    const hold: Hold = { until: start + HOLD_MILLISECONDS };
    if (!(await database.write((tx) => holdClock(tx, environment, hold.until, start)))) throw beingMoved();
    const { clock_offset: before } = await findEnvironment(database, environment);
    const after = before + seconds * 1000;
    let offset = before;
    try {
      if (start + after > LATEST_TIME) throw tooFar();
      await this.untilNobodyElseAttempts(environment);
      const tally = await this.attemptUntil(environment, hold, start + before, start + after, (time) => {
        offset = Math.min(after, Math.max(offset, time - clock.now()));
        return offset;
      });
      offset = after;
      return {
        object: "test_clock",
        now: formatTimestamp(clock.now() + after),
        offset_seconds: Math.floor(after / 1000),
        ...tally,
      };
    } finally {
      await database.write(async (tx) => {
        await moveClock(tx, environment, offset, { until: hold.until, longer: 0 });
        tx.wake("deliveries");
      });
    }
  }

  /** Attempts that began before the clock was held belong to the time before. Those of dead processes never end. */
  private async untilNobodyElseAttempts(environment: number): Promise<void> {
    const { database, clock } = this.services;
    while (await hasLeased(database, environment)) {
      this.assertGoing();
      if (await hasLapsedLease(database, clock.now(), this.tools.owner)) await this.takeOverLapsed();
      await this.pause();
    }
  }

  private async takeOverLapsed(): Promise<void> {
    const { database, clock, clockTrust, random, report } = this.services;
    const interrupted = await database.write(
      async (tx) => {
        const now = clock.now();
        const lapsed = await findLapsed(tx, now, this.tools.owner, TAKE_OVER_MOST);
        return takeOver(tx, lapsed, { now, random, mayExpire: clockTrust.isTrusted() });
      },
      { isolation: "latest" },
    );
    reportFinished(report, interrupted, []);
  }

  private pause(milliseconds = LOOK_AGAIN_MILLISECONDS): Promise<void> {
    return new Promise((resolve) => {
      this.services.clock.after(milliseconds, resolve);
    });
  }

  private assertGoing(): void {
    if (this.stopping) throw new ApiError("unavailable", "The platform is stopping; the test clock did not get there.");
  }

  /** `begin` and `end` are the environment's times; what was due before the beginning is attempted at the beginning. */
  private async attemptUntil(
    environment: number,
    hold: Hold,
    begin: number,
    end: number,
    offsetAt: (time: number) => number,
  ): Promise<Tally> {
    const { database, clock, report } = this.services;
    const tally: Tally = { attempted: 0, succeeded: 0, failed: 0 };
    let finished: Finished[] = [];
    let unsent: Job[] = [];
    let claimedAt = clock.elapsed();
    for (;;) {
      const token = `clock.${this.tools.owner}.${(this.steps += 1)}`;
      const step = await database.write(
        async (tx) => {
          const disabled = await recordFinished(tx, finished);
          await releaseLeases(tx, unsent.map(toLease));
          const goneNoFurther = { disabled, at: end, jobs: undefined, ended: [], heldUntil: hold.until };
          if (this.stopping) return goneNoFurther;
          const time = await this.nextTime(tx, environment, end);
          const heldUntil = clock.now() + HOLD_MILLISECONDS;
          const held = { until: hold.until, longer: heldUntil };
          if (!(await moveClock(tx, environment, offsetAt(time ?? end), held)))
            return { ...goneNoFurther, heldUntil: 0 };
          const lease = { token, until: clock.now() + LEASE_MILLISECONDS };
          if (time === undefined) {
            const ended = await claimEnded(tx, lease, environment, end, END_MOST);
            await recordFinished(tx, ended);
            return { disabled, at: end, jobs: undefined, ended, heldUntil };
          }
          const at = Math.max(begin, time);
          const { jobs, abandoned } = await this.claim(tx, environment, at, lease);
          await recordFinished(tx, abandoned);
          return { disabled, at, jobs, ended: abandoned, heldUntil };
        },
        { isolation: "latest" },
      );
      reportFinished(report, finished, step.disabled);
      reportFinished(report, step.ended, []);
      count(tally, finished);
      if (step.heldUntil === 0) throw beingMoved();
      hold.until = step.heldUntil;
      this.assertGoing();
      if (step.jobs === undefined && step.ended.length < END_MOST) return tally;
      const isEmpty = step.jobs?.length === 0 && step.ended.length === 0;
      if (!isEmpty) claimedAt = clock.elapsed();
      else if (clock.elapsed() - claimedAt >= EMPTY_MILLISECONDS) return tally;
      else await this.pause();
      ({ finished, unsent } = await this.attemptAll(step.jobs ?? [], step.at));
    }
  }

  /** The earliest time up to the end at which something is due. */
  private async nextTime(tx: Transaction, environment: number, end: number): Promise<number | undefined> {
    let earliest: number | undefined;
    for (const { id } of await enabledEndpoints(tx, environment)) {
      const due = await firstDue(tx, id);
      if (due !== undefined && due <= end && (earliest === undefined || due < earliest)) earliest = due;
    }
    return earliest;
  }

  private async claim(tx: Transaction, environment: number, time: number, lease: { token: string; until: number }) {
    const { opener, limits } = this.tools;
    const claimant = { opener, lease, bodies: new BodyClaim(this.tools.bodies, true) };
    const { clock } = this.services;
    const jobs: Job[] = [];
    const abandoned: Finished[] = [];
    for (const { id } of await enabledEndpoints(tx, environment)) {
      const count = Math.min(limits.perEndpoint, limits.perProcess - jobs.length);
      if (count === 0) break;
      const target = await findTarget(tx, environment, id);
      if (target === undefined) continue;
      const claimLimits = { count, begin: count, heldBytes: 0 };
      const claim = await claimAt(
        tx,
        claimant,
        target,
        { elapsed: clock.elapsed(), mayExpire: true },
        time,
        claimLimits,
      );
      jobs.push(...claim.jobs);
      abandoned.push(...claim.abandoned);
    }
    return { jobs, abandoned };
  }

  private async attemptAll(jobs: readonly Job[], at: number): Promise<{ finished: Finished[]; unsent: Job[] }> {
    const { courier, bodies } = this.tools;
    const attempt = (job: Job) =>
      new Promise<Finished | undefined>((resolve) => {
        const { event_id: eventId } = job.delivery;
        job.body = bodies.retain(eventId, job.body);
        courier.attempt(job, at, (finished) => {
          bodies.release(eventId);
          resolve(finished);
        });
      });
    const ended = await Promise.all(jobs.map(attempt));
    const unsent = jobs.filter((_job, i) => ended[i] === undefined);
    // Perhaps file descriptors are free again later.
    if (unsent.length > 0) await this.pause(UNSENT_PAUSE_MILLISECONDS);
    return { finished: ended.filter((one) => one !== undefined), unsent };
  }
}

function count(tally: Tally, finished: readonly Finished[]): void {
  tally.attempted += finished.length;
  for (const { outcome } of finished) tally[outcome.status === "succeeded" ? "succeeded" : "failed"] += 1;
}

function tooFar(): ApiError {
  const detail = `must not move the clock past ${formatTimestamp(LATEST_TIME)}`;
  return invalidFields([{ pointer: "/seconds", code: "out_of_range", detail }]);
}

function beingMoved(): ApiError {
  return new ApiError("test_clock_advancing", "The test clock is being moved: wait until that is done.");
}
