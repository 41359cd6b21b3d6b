/** So many attempts at once, and one more each time that many seconds have passed. */
export interface Limits {
  burst: number;
  refillSeconds: number;
}

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
  release(name: string): Promise<void>;
}

/** Buckets of different purposes have nothing to do with each other. */
export type CreateLimiter = (purpose: string, limits: Limits) => Limiter;
