import type { Random } from "./ports.ts";

const FIRST_CEILING_MS = 250;
const LAST_CEILING_MS = 30_000;

/**
 * The wait in milliseconds before a new connection, after `failures` that came in a row (0 for the first): anything up
 * to a ceiling of 0.25 s that doubles to 30 s (full jitter, decisions 10).
 */
export function reconnectDelay(failures: number, random: Random): number {
  return random() * Math.min(LAST_CEILING_MS, FIRST_CEILING_MS * 2 ** failures);
}
