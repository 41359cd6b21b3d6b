import { type Clock, systemClock } from "../../src/platform/ports.ts";

/** Timers of this length fire only when a test advances the clock, however slow the machine is. */
const LONG_MILLISECONDS = 5000;

/** A clock that tests advance: timers that are due then fire at once. */
export function createPassingClock(): Clock & { pass(milliseconds: number): void } {
  let ahead = 0;
  const timers = new Set<{ due: number; fire: () => void }>();
  const elapsed = () => systemClock.elapsed() + ahead;
  return {
    now: () => systemClock.now() + ahead,
    elapsed,
    uptime: () => systemClock.uptime() + ahead,
    after(milliseconds, callback) {
      const fire = () => {
        if (!timers.delete(timer)) return;
        cancel();
        callback();
      };
      const timer = { due: elapsed() + milliseconds, fire };
      const cancel = milliseconds < LONG_MILLISECONDS ? systemClock.after(milliseconds, fire) : () => {};
      timers.add(timer);
      return () => {
        timers.delete(timer);
        cancel();
      };
    },
    pass(milliseconds) {
      ahead += milliseconds;
      for (const { due, fire } of timers) if (due <= elapsed()) fire();
    },
  };
}
