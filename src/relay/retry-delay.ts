import type { Random } from "./ports.ts";

const FIRST_MS = 1_000;
const MOST_MS = 30_000;

/** The wait in milliseconds before a failed forward's next attempt, after so many: 1 s, doubled to 30 s, ± 20 %. */
export function retryDelay(attempts: number, random: Random): number {
  return Math.min(FIRST_MS * 2 ** (attempts - 1), MOST_MS) * (0.8 + 0.4 * random());
}
