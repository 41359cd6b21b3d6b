import { expect } from "vitest";

const MEBIBYTE = 1024 * 1024;

/** Repeats a text up to a length, 1 MiB unless given. */
export function pumped(text: string, length = MEBIBYTE): string {
  return text.repeat(Math.floor(length / text.length));
}

/**
 * Returns the processor time of a call in milliseconds, of the shortest of some runs: other threads take part of it.
 */
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

/** Nested as deep as a body may be: the shape that JSON.parse is slowest at. */
export const DEEP = `[${pumped(`${"[".repeat(31)}${"]".repeat(31)},`)}1]`;

/**
 * What judging 1 MiB of foreign bytes may cost: 100 ms of processor time, and on a slow or busy machine twice what
 * JSON.parse alone takes for the shape that it is slowest at. Time that grows with the square of the length takes
 * seconds to minutes instead.
 */
export const BUDGET = Math.max(100, 2 * processorTime(() => JSON.parse(DEEP), 3, 0));

/** Fails where no run of the call is within the budget. */
export function expectWithinBudget(call: () => unknown): void {
  expect(processorTime(call, 3, BUDGET)).toBeLessThan(BUDGET);
}
