import type { IncomingMessage } from "node:http";
import { parseCredential } from "../../contract/credentials.ts";
import { HEADERS } from "../../contract/headers.ts";
import { addressName } from "../../network/addresses.ts";
import { ApiError } from "../domain/api-error.ts";

/** A burst size, and the seconds until one more attempt is allowed. */
export interface Limits {
  burst: number;
  refillSeconds: number;
}

export interface Taken {
  /** 0 if it was taken, else the seconds until one is available. */
  wait: number;
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

export interface RateLimits {
  /** Sustained requests per second. */
  perSecond: number;
  /** Maximum burst of requests. */
  burst: number;
}

/** Rejected credentials from one address: enough for every mistake, too few for guessing. */
const FAILED_AUTHENTICATIONS = { burst: 100, refillSeconds: 1 };

/** A token bucket for each credential, and one for the rejected credentials of each address. */
export class RateLimit {
  /** The current policy, in the format of the IETF's draft 10. */
  readonly policy: string;
  readonly #limits: RateLimits;
  readonly #requests: Limiter;
  readonly #failedAuthentications: Limiter;

  constructor(createLimiter: CreateLimiter, limits: RateLimits) {
    this.#limits = limits;
    this.policy = `"default";q=${limits.burst};w=${Math.ceil(limits.burst / limits.perSecond)}`;
    this.#requests = createLimiter("requests", { burst: limits.burst, refillSeconds: 1 / limits.perSecond });
    this.#failedAuthentications = createLimiter("failed_authentications", FAILED_AUTHENTICATIONS);
  }

  /**
   * Counts a request with a valid and sufficient credential. The response says what is left, even if the request is
   * rejected. Throws ApiError `rate_limited`.
   */
  async take(credentialId: string, setHeader: (name: string, value: string) => unknown): Promise<void> {
    const { wait, left } = await this.#requests.take(credentialId);
    const refill = Math.ceil((this.#limits.burst - left) / this.#limits.perSecond);
    setHeader(HEADERS.rateLimit, `"default";r=${left};t=${refill}`);
    if (wait > 0) throw tooMany("The credential exceeded its rate limit", wait);
  }

  /**
   * Counts a rejected credential. A missing or malformed one is always a 401; only well-formed ones could be guesses.
   * Throws ApiError `rate_limited`.
   */
  async countRejection(request: IncomingMessage, address: string | undefined): Promise<void> {
    const credential = /^bearer +(\S+)$/i.exec(request.headers.authorization ?? "")?.[1] ?? "";
    if (parseCredential(credential) === undefined) return;
    const { wait } = await this.#failedAuthentications.take(addressName(address));
    if (wait > 0) throw tooMany("Too many failed authentications from this address", wait);
  }
}

function tooMany(why: string, seconds: number): ApiError {
  return new ApiError("rate_limited", `${why}: try again in ${seconds} s.`, {
    headers: { "Retry-After": String(seconds) },
  });
}

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
