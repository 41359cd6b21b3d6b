/** A burst size, and the seconds until one more attempt is allowed. */
export interface Limits {
  burst: number;
  refillSeconds: number;
}

/** The result of taking an attempt. */
export interface Taken {
  /** 0 if it was taken, else the seconds until one is available. */
  wait: number;
  /** Number of attempts left. */
  left: number;
}

/** One token bucket per name, shared by all processes on the database. */
export interface Limiter {
  take(name: string): Promise<Taken>;
  /** Returns a token that was not needed. */
  release(name: string): Promise<void>;
}

/** Buckets of different purposes are independent. */
export type CreateLimiter = (purpose: string, limits: Limits) => Limiter;
