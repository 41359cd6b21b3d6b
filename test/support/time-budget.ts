import { expect } from "vitest";

const MEBIBYTE = 1024 * 1024;

/** Repeats a text up to a length, 1 MiB by default. */
export function pumped(text: string, length = MEBIBYTE): string {
  return text.repeat(Math.floor(length / text.length));
}

/** Returns the processor time of the fastest of several runs in milliseconds, because other threads use part of it. */
function processorTime(call: () => unknown, runs: number, enough: number): number {
  let shortest = Number.POSITIVE_INFINITY;
  for (let run = 0; run < runs && shortest > enough; run++) {
    const before = process.cpuUsage();
    call();
    shortest = Math.min(shortest, elapsed(before));
  }
  return shortest;
}

function elapsed(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** A body at the maximum depth: the slowest shape for JSON.parse. */
export const DEEP = `[${pumped(`${"[".repeat(31)}${"]".repeat(31)},`)}1]`;

/**
 * The budget for 1 MiB of untrusted input: 100 ms of processor time, or on a slow or busy machine twice what JSON.parse
 * takes for its slowest shape. Quadratic code takes seconds to minutes instead.
 */
export const BUDGET = currentBudget();

function currentBudget(): number {
  return Math.max(100, 2 * processorTime(() => JSON.parse(DEEP), 3, 0));
}

/** Fails if no run of the call is within the budget, which is measured again in case the machine became slower. */
export function expectWithinBudget(call: () => unknown): void {
  const taken = processorTime(call, 10, BUDGET);
  expect(taken).toBeLessThan(taken < BUDGET ? BUDGET : currentBudget());
}
