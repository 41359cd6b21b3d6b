import type { CreateLimiter, Limits } from "./limiter.ts";

/** Names kept before those that are full again are forgotten, and the oldest where none is. */
const NAMES_KEPT = 10_000;

interface Bucket {
  attempts: number;
  /** When `attempts` was true. */
  at: number;
}

/** A token bucket a name, in this process alone. */
export class LocalLimiter {
  readonly #elapsed: () => number;
  readonly #burst: number;
  readonly #refillMs: number;
  readonly #buckets = new Map<string, Bucket>();

  /** `elapsed` is a monotonic clock: on the wall clock a bucket would not refill for a day once that is set back by one. */
  constructor(elapsed: () => number, limits: Limits) {
    this.#elapsed = elapsed;
    this.#burst = limits.burst;
    this.#refillMs = limits.refillSeconds * 1000;
  }

  /** Takes an attempt and answers 0, or returns the seconds until there is one. */
  take(name: string): number {
    const attempts = this.#attemptsOf(name);
    if (attempts < 1) return Math.ceil(((1 - attempts) * this.#refillMs) / 1000);
    this.#keep(name, attempts - 1);
    return 0;
  }

  /** Returns an attempt that turned out to be none. */
  release(name: string): void {
    this.#keep(name, Math.min(this.#burst, this.#attemptsOf(name) + 1));
  }

  /** How many are left, fractions included. */
  left(name: string): number {
    return this.#attemptsOf(name);
  }

  #attemptsOf(name: string): number {
    const bucket = this.#buckets.get(name);
    if (bucket === undefined) return this.#burst;
    return Math.min(this.#burst, bucket.attempts + (this.#elapsed() - bucket.at) / this.#refillMs);
  }

  #keep(name: string, attempts: number): void {
    if (this.#buckets.size >= NAMES_KEPT && !this.#buckets.has(name)) this.#forget();
    this.#buckets.set(name, { attempts, at: this.#elapsed() });
  }

  #forget(): void {
    for (const name of this.#buckets.keys()) if (this.#attemptsOf(name) >= this.#burst) this.#buckets.delete(name);
    if (this.#buckets.size < NAMES_KEPT) return;
    const [oldest] = this.#buckets.keys();
    this.#buckets.delete(oldest!);
  }
}

/** Limiters of a process that is alone on its database. */
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
