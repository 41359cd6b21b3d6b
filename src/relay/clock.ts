import { callAfter } from "../network/deadline.ts";

/** Time as the relay reads it, so that a test can pass half a minute of silence in an instant. */
export interface Clock {
  /** Monotonic milliseconds; only differences mean something. */
  monotonicMilliseconds(): number;
  /** Unix time in milliseconds. */
  unixMilliseconds(): number;
  /** Calls back once after a delay in milliseconds; the returned function cancels it. */
  after(milliseconds: number, callback: () => void): () => void;
}

/** Returns a number in [0, 1), for jitter. */
export type Random = () => number;

/** The machine's own clock. */
export const systemClock: Clock = {
  monotonicMilliseconds: () => performance.now(),
  unixMilliseconds: () => Date.now(),
  after: callAfter,
};
