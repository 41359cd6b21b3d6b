import type { TestClock } from "../../contract/schemas/sandbox.ts";
import { formatTimestamp } from "../../contract/timestamps.ts";
import type { Queries, Transaction } from "../storage/database.ts";
import {
  type ClockAdvance,
  deleteAdvances,
  endAdvance,
  findLatestAdvance,
  insertAdvance,
} from "../storage/clock-advances.ts";
import { countDue, leaseTime } from "../storage/delivery-queue.ts";
import { findEnvironment, holdClock, releaseClock } from "../storage/environments.ts";
import { ApiError, invalidFields } from "./api-error.ts";

/** Timestamps end with the year 9999. What is scheduled or expires after the clock's time must still have one. */
const LATEST_TIME = Date.UTC(9000, 0, 1);
/** Advances are retained as long as an Idempotency-Key, so that a repeated request finds its advance. */
const RETENTION_MILLISECONDS = 86_400_000;

const STATUSES = { running: "advancing", succeeded: "idle", canceled: "canceled" } as const;

/** Returns the environment's clock with an advance: the latest one, unless the caller names one. */
export async function showClock(
  queries: Queries,
  environment: number,
  /** Real time, in Unix milliseconds. */
  now: number,
  advance?: ClockAdvance,
): Promise<TestClock> {
  const { clock_offset: offset, since } = await findEnvironment(queries, environment);
  const shown = advance ?? (await findLatestAdvance(queries, environment));
  const isRunning = shown?.status === "running";
  return {
    object: "test_clock",
    now: formatTimestamp(now + offset),
    offset_seconds: Math.floor(offset / 1000),
    reset_at: since === null ? null : formatTimestamp(since),
    status: shown === undefined ? "idle" : STATUSES[shown.status],
    target: shown === undefined ? null : formatTimestamp(shown.ends_at),
    attempts: shown?.attempts ?? 0,
    succeeded: shown?.succeeded ?? 0,
    failed: shown?.failed ?? 0,
    remaining: isRunning ? await countDue(queries, environment, shown.ends_at) : 0,
  };
}

/** Returns the result of an advance that has finished: the clock as it was then. */
export async function showAdvance(queries: Queries, advance: ClockAdvance, now: number): Promise<TestClock> {
  const clock = await showClock(queries, advance.environment, now, advance);
  if (advance.ended_at === null || advance.ended_offset === null) return clock;
  return {
    ...clock,
    now: formatTimestamp(advance.ended_at),
    offset_seconds: Math.floor(advance.ended_offset / 1000),
  };
}

/**
 * Starts to move a sandbox's clock and holds it, so that from the commit on only the holder attempts its deliveries.
 * Returns the number of the advance and its target in the environment's time. Throws ApiError `test_clock_advancing` if
 * the clock is already being moved, `invalid_request` if the target is too far away.
 */
export async function beginAdvance(
  tx: Transaction,
  environment: number,
  { seconds, holder, now: processNow }: { seconds: number; holder: string; now: () => number },
): Promise<{ number: number; endsAt: number }> {
  const now = await leaseTime(tx, processNow);
  const isHeld = await holdClock(tx, environment, holder, now);
  if (!isHeld || (await findLatestAdvance(tx, environment))?.status === "running") {
    throw new ApiError(
      "test_clock_advancing",
      "The test clock is already advancing. Wait until it has finished, or cancel the advance.",
    );
  }
  const { clock_offset: offset } = await findEnvironment(tx, environment);
  const target = offset + seconds * 1000;
  if (now + target > LATEST_TIME) throw tooFar();
  await deleteAdvances(tx, environment, now - RETENTION_MILLISECONDS);
  const advance = { environment, target_offset: target, ends_at: now + target, created: now };
  return { number: await insertAdvance(tx, advance), endsAt: advance.ends_at };
}

/** Stops the clock at its current time if it is being moved. Attempts in flight finish and are recorded. */
export async function cancelAdvance(tx: Transaction, environment: number, processNow: () => number) {
  // No process moves it from here on.
  await releaseClock(tx, environment);
  const now = await leaseTime(tx, processNow);
  const { clock_offset: offset } = await findEnvironment(tx, environment);
  await endAdvance(tx, environment, { status: "canceled", at: now + offset, offset });
  tx.notify("deliveries");
  return showClock(tx, environment, now);
}

function tooFar(): ApiError {
  const detail = `must not move the clock past ${formatTimestamp(LATEST_TIME)}`;
  return invalidFields([{ pointer: "/seconds", code: "out_of_range", detail }]);
}
