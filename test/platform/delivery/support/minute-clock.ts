import { type Clock, systemClock } from "../../../../src/platform/ports.ts";

/** The machine's clock, except that timers of a minute or longer wait until the test advances it. */
export interface MinuteClock extends Clock {
  passMinute(): void;
  /** Advances the time. */
  pass(milliseconds: number): void;
  /** Sets the wall clock to an offset from real time. */
  set(milliseconds: number): void;
  /** The number of waiting timers. */
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
