import { callAfter } from "./deadline.ts";

/** Time as an argument, so that a test can pass half a minute of silence in an instant. */
export interface Clock {
  /** Unix time in milliseconds. */
  now: () => number;
  /** Milliseconds from a fixed point, for durations. Monotonic: unaffected when the wall clock is set. */
  elapsed: () => number;
  /** Calls back once after a delay in milliseconds. The returned function cancels it. */
  after: (milliseconds: number, callback: () => void) => () => void;
}

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after: callAfter,
};
