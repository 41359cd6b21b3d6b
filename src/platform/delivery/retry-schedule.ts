import { LIMITS } from "../../contract/limits.ts";

const FIRST_WAIT = LIMITS.retryFirstSeconds * 1000;
const LONGEST_WAIT = LIMITS.maxRetryWaitSeconds * 1000;
const TOTAL = LIMITS.retryTotalSeconds * 1000;
/** The wait is multiplied by a random factor from 1 minus this to 1 plus this. */
const JITTER = 0.2;

/** A failed attempt, in Unix milliseconds of the environment's clock. */
interface FailedAttempt {
  /** Number of attempts made, this one included. */
  attempts: number;
  /** When the first attempt began. */
  firstAttempt: number;
  /** When this attempt finished. */
  endedAt: number;
  /** The wait that the receiver requested (`Retry-After`), in milliseconds. */
  retryAfter?: number | undefined;
}

/**
 * Returns when to try again, or undefined if that would be more than 3 days after the first attempt. The n-th wait is
 * `min(30 s · 2^(n-1), 6 h)`, times a factor in [0.8, 1.2], never above 6 h. The receiver can lengthen it up to that
 * maximum. `fraction` is random, in [0, 1). Without `mayExpire` the 3 days do not apply, because the clock may be
 * wrong.
 */
export function nextAttemptAt(failed: FailedAttempt, fraction: number, mayExpire = true): number | undefined {
  const planned = Math.min(FIRST_WAIT * 2 ** (failed.attempts - 1), LONGEST_WAIT);
  const jittered = planned * (1 - JITTER + 2 * JITTER * fraction);
  const wait = Math.min(Math.max(jittered, failed.retryAfter ?? 0), LONGEST_WAIT);
  const at = failed.endedAt + Math.round(wait);
  return !mayExpire || isWithinRetries(failed.firstAttempt, at) ? at : undefined;
}

/** Returns the shortest wait before the next attempt, in milliseconds, after a number of failed ones. */
export function shortestWait(attempts: number): number {
  return Math.min(FIRST_WAIT * 2 ** (attempts - 1), LONGEST_WAIT) * (1 - JITTER);
}

/** Returns true while an attempt may still be made. */
export function isWithinRetries(firstAttempt: number, at: number): boolean {
  return at <= firstAttempt + TOTAL;
}

/** Returns the time before which a delivery must have begun for its retries to be over. */
export function retriesEndedBefore(now: number): number {
  return now - TOTAL;
}
