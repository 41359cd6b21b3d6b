import { ApiError, type NetworkError } from "./errors.ts";

const FIRST_MILLISECONDS = 250;
const MOST_MILLISECONDS = 4000;
/** A person would rather hear "try again in an hour" than wait for it. */
const LONGEST_RETRY_AFTER_SECONDS = 60;
const PASSING_STATUSES: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

/**
 * Milliseconds to wait before the attempt after this one, or undefined where it would be of no use. Full jitter: anything
 * up to a bound that doubles, and never before `Retry-After`.
 */
export function retryDelay(
  failure: ApiError | NetworkError,
  attempts: number,
  random: () => number,
): number | undefined {
  const jitter = random() * Math.min(FIRST_MILLISECONDS * 2 ** (attempts - 1), MOST_MILLISECONDS);
  if (!(failure instanceof ApiError)) return failure.passing ? jitter : undefined;
  const passing = PASSING_STATUSES.has(failure.status) || failure.code === "idempotency_in_flight";
  if (!passing || (failure.retryAfter ?? 0) > LONGEST_RETRY_AFTER_SECONDS) return undefined;
  return (failure.retryAfter ?? 0) * 1000 + jitter;
}
