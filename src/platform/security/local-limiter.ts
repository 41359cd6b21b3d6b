import type { CreateLimiter, Limits } from "./rate-limit.ts";

/** Maximum number of names. Beyond it full buckets are forgotten, or the oldest if none is full. */
const MAX_NAMES = 10_000;

interface Bucket {
  attempts: number;
  /** The time at which `attempts` was correct. */
  at: number;
}

/** One token bucket per name, in this process only. */
export class LocalLimiter {
  readonly #elapsed: () => number;
  readonly #burst: number;
  readonly #refillMs: number;
  readonly #buckets = new Map<string, Bucket>();

  /**
   * `elapsed` is a monotonic clock: on the wall clock, a bucket would not refill for a day after a step back by one.
   */
  constructor(elapsed: () => number, limits: Limits) {
    this.#elapsed = elapsed;
    this.#burst = limits.burst;
    this.#refillMs = limits.refillSeconds * 1000;
  }

  /** Takes a token and returns 0, or returns the seconds until one is available. */
  take(name: string): number {
    const attempts = this.#attemptsOf(name);
    if (attempts < 1) return Math.ceil(((1 - attempts) * this.#refillMs) / 1000);
    this.#keep(name, attempts - 1);
    return 0;
  }

  /** Returns a token that was not needed. */
  release(name: string): void {
    this.#keep(name, Math.min(this.#burst, this.#attemptsOf(name) + 1));
  }

  /** Returns how many tokens are left, fractions included. */
  left(name: string): number {
    return this.#attemptsOf(name);
  }

  #attemptsOf(name: string): number {
    const bucket = this.#buckets.get(name);
    if (bucket === undefined) return this.#burst;
    return Math.min(this.#burst, bucket.attempts + (this.#elapsed() - bucket.at) / this.#refillMs);
  }

  #keep(name: string, attempts: number): void {
    if (this.#buckets.size >= MAX_NAMES && !this.#buckets.has(name)) this.#forget();
    this.#buckets.set(name, { attempts, at: this.#elapsed() });
  }

  #forget(): void {
    for (const name of this.#buckets.keys()) if (this.#attemptsOf(name) >= this.#burst) this.#buckets.delete(name);
    if (this.#buckets.size < MAX_NAMES) return;
    const [oldest] = this.#buckets.keys();
    this.#buckets.delete(oldest!);
  }
}

/** Creates limiters for the only process on its database. */
export function localLimiters(elapsed: () => number): CreateLimiter {
  return (_purpose, limits) => {
    const limiter = new LocalLimiter(elapsed, limits);
    return {
      async take(name) {
        const wait = limiter.take(name);
        return { wait, left: Math.floor(limiter.left(name)) };
      },
      async release(name) {
        limiter.release(name);
      },
    };
  };
}
