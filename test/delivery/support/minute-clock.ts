import type { Clock } from "../../../src/platform/ports.ts";
import { systemClock } from "../../../src/platform/system.ts";

/** The machine's clock, but what waits for a minute or longer waits until the test lets it pass. */
export interface MinuteClock extends Clock {
  passMinute(): void;
  /** Lets time pass, as if the test had waited. */
  pass(milliseconds: number): void;
  /** Sets the wall clock, by so much from the right time. */
  set(milliseconds: number): void;
  /** How many wait. */
  waiting(): number;
}

export function createMinuteClock(): MinuteClock {
  let waiting: (() => void)[] = [];
  let error = 0;
  let passed = 0;
  return {
    now: () => systemClock.now() + passed + error,
    elapsed: systemClock.elapsed,
    uptime: () => systemClock.uptime() + passed,
    after(milliseconds, callback) {
      if (milliseconds < 60_000) return systemClock.after(milliseconds, callback);
      waiting.push(callback);
      return () => {
        waiting = waiting.filter((other) => other !== callback);
      };
    },
    pass(milliseconds) {
      passed += milliseconds;
    },
    set(milliseconds) {
      error = milliseconds;
    },
    passMinute() {
      for (const callback of waiting.splice(0)) callback();
    },
    waiting: () => waiting.length,
  };
}
