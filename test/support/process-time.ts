import { existsSync, readFileSync } from "node:fs";
import { expect } from "vitest";

/** Only Linux reports the processor time of another process. */
export const TELLS_PROCESS_TIME = existsSync("/proc/self/stat");

/** The kernel counts in hundredths of a second. */
const TICK_MS = 10;
const USER_TIME = 11;

/** The processor time that a process has used so far, in milliseconds. */
function processorTimeOf(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, "latin1");
  // The program's name, which comes second, may contain spaces.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[USER_TIME]) + Number(fields[USER_TIME + 1])) * TICK_MS;
}

/** A process compiles code only after running it several times; other work on the machine slows some runs down. */
const RUNS = 10;

/** Fails if a process needs more than the budget for each of several calls. */
export async function expectProcessWithin(budget: number, pid: number, call: () => Promise<unknown>): Promise<void> {
  let shortest = Number.POSITIVE_INFINITY;
  for (let run = 0; run < RUNS && shortest > budget; run++) {
    const before = processorTimeOf(pid);
    await call();
    shortest = Math.min(shortest, processorTimeOf(pid) - before);
  }
  expect(shortest).toBeLessThanOrEqual(budget);
}
