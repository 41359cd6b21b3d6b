import { existsSync, readFileSync } from "node:fs";
import { expect } from "vitest";

/** Only Linux reports the processor time of another process. */
export const TELLS_PROCESS_TIME = existsSync("/proc/self/stat");

/** The kernel counts in hundredths of a second. */
const TICK_MS = 10;
const USER_TIME = 11;

/** Returns the processor time that a process has used so far, in milliseconds. */
function processorTimeOf(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, "latin1");
  // The second field, the program's name, may contain spaces.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[USER_TIME]) + Number(fields[USER_TIME + 1])) * TICK_MS;
}

/** Repeated runs: code is compiled only after several, and other work on the machine slows some down. */
const RUNS = 10;

/** Fails if every one of several calls takes more processor time of a process than the budget. */
export async function expectProcessWithin(budget: number, pid: number, call: () => Promise<unknown>): Promise<void> {
  let shortest = Number.POSITIVE_INFINITY;
  for (let run = 0; run < RUNS && shortest > budget; run++) {
    const before = processorTimeOf(pid);
    await call();
    shortest = Math.min(shortest, processorTimeOf(pid) - before);
  }
  expect(shortest).toBeLessThanOrEqual(budget);
}
