import { AttemptLimiter, type AttemptLimits } from "./attempt-limiter.ts";

/** What came of taking an attempt. */
export interface Taken {
  /** 0 where it was taken, else the seconds until there is one. */
  wait: number;
  /** How many are left. */
  left: number;
}

/** A token bucket a name, shared by all processes on the database. */
export interface Limiter {
  take(name: string): Promise<Taken>;
  /** Returns an attempt that turned out to be none. */
  giveBack(name: string): Promise<void>;
}

/** Buckets of different purposes have nothing to do with each other. */
export type CreateLimiter = (purpose: string, limits: AttemptLimits) => Limiter;

/** Limiters of a process that is alone on its database. */
export function localLimiters(now: () => number): CreateLimiter {
  return (_purpose, limits) => {
    const limiter = new AttemptLimiter(now, limits);
    return {
      async take(name) {
        const wait = limiter.take(name);
        return { wait, left: Math.floor(limiter.left(name)) };
      },
      async giveBack(name) {
        limiter.giveBack(name);
      },
    };
  };
}
