import { LIMITS } from "../../../contract/limits.ts";
import type { Delivery } from "../../../contract/schemas/delivery.ts";

const SHOWN = 4;

/**
 * When the attempts after the next one are likely to be: the waits double up to their most, until 3 days after the first.
 * Each is varied by chance when it comes to it.
 */
export function likelyAttempts({ attempts = [], next_attempt: next, attempt_count: made }: Delivery): number[] {
  if (next === null) return [];
  const first = Date.parse(attempts[0]?.at ?? next);
  const last = first + LIMITS.retryTotalSeconds * 1000;
  const likely: number[] = [];
  let at = Date.parse(next);
  for (let count = made + 1; likely.length < SHOWN; count++) {
    at += Math.min(LIMITS.retryFirstSeconds * 2 ** (count - 1), LIMITS.maxRetryWaitSeconds) * 1000;
    if (at > last) break;
    likely.push(at);
  }
  return likely;
}
