import type { Log } from "../ports.ts";
import type { Database } from "../storage/database.ts";
import { type Bucket, deleteIdleBuckets, returnTokens, takeTokens } from "../storage/rate-buckets.ts";
import type { CreateLimiter, Limiter, Limits, Taken } from "./limiter.ts";

/** A process takes a twentieth of a large bucket at once, and grants those tokens without asking the database. */
const LOT_SHARE = 20;
/** Tokens that were taken and not granted are released this soon. */
const RETURN_MILLISECONDS = 500;
const TIDY_MILLISECONDS = 3_600_000;

/** What this process holds of one bucket. */
interface Lot {
  bucket: Bucket;
  held: number;
  /** How many tokens were left for all processes at the last query. */
  left: number;
  /** When there may be a token again; no query before. */
  emptyUntil: number;
  asking: Promise<void> | undefined;
  usedAt: number;
}

/** Limits shared by all processes on a PostgreSQL database. */
export function sharedLimiters(database: Database, log: Log): { create: CreateLimiter; close(): Promise<void> } {
  const limiters: SharedLimiter[] = [];
  const returnIdle = async (before: number) => {
    try {
      await Promise.all(limiters.map((limiter) => limiter.returnIdle(before)));
    } catch (error) {
      log.warn({ err: error }, "unused rate limit tokens could not be returned");
    }
  };
  const returning = setInterval(() => void returnIdle(performance.now() - RETURN_MILLISECONDS), RETURN_MILLISECONDS);
  const tidying = setInterval(() => {
    database.write(deleteIdleBuckets).catch((error: unknown) => {
      log.warn({ err: error }, "old rate limits could not be removed");
    });
  }, TIDY_MILLISECONDS);
  returning.unref();
  tidying.unref();
  return {
    create(purpose, limits) {
      const limiter = new SharedLimiter(database, purpose, limits);
      limiters.push(limiter);
      return limiter;
    },
    async close() {
      clearInterval(returning);
      clearInterval(tidying);
      await returnIdle(Infinity);
    },
  };
}

class SharedLimiter implements Limiter {
  readonly #database: Database;
  readonly #purpose: string;
  readonly #limits: { burst: number; refillMs: number };
  readonly #lotSize: number;
  readonly #lots = new Map<string, Lot>();

  constructor(database: Database, purpose: string, limits: Limits) {
    this.#database = database;
    this.#purpose = purpose;
    this.#limits = { burst: limits.burst, refillMs: limits.refillSeconds * 1000 };
    this.#lotSize = Math.max(1, Math.floor(limits.burst / LOT_SHARE));
  }

  async take(name: string): Promise<Taken> {
    const lot = this.#lotOf(name);
    for (;;) {
      if (lot.held >= 1) {
        lot.held -= 1;
        lot.usedAt = performance.now();
        return { wait: 0, left: Math.floor(lot.held + lot.left) };
      }
      const empty = lot.emptyUntil - performance.now();
      if (empty > 0) return { wait: Math.ceil(empty / 1000), left: 0 };
      await (lot.asking ??= this.#ask(lot).finally(() => {
        lot.asking = undefined;
      }));
    }
  }

  async release(name: string): Promise<void> {
    await this.#database.write((tx) => returnTokens(tx, this.#bucketOf(name), 1), { isolation: "read committed" });
  }

  /** Releases what has been unused since a time. */
  async returnIdle(before: number): Promise<void> {
    for (const [name, lot] of this.#lots) {
      if (lot.usedAt > before || lot.asking !== undefined) continue;
      this.#lots.delete(name);
      const { held } = lot;
      if (held < 1) continue;
      await this.#database.write((tx) => returnTokens(tx, lot.bucket, held), { isolation: "read committed" });
    }
  }

  async #ask(lot: Lot): Promise<void> {
    const { granted, tokens } = await this.#database.write((tx) => takeTokens(tx, lot.bucket, this.#lotSize), {
      isolation: "read committed",
    });
    lot.held += granted;
    lot.left = Math.max(0, tokens);
    lot.usedAt = performance.now();
    if (granted < 1) lot.emptyUntil = performance.now() + (1 - tokens) * this.#limits.refillMs;
  }

  #lotOf(name: string): Lot {
    const known = this.#lots.get(name);
    if (known !== undefined) return known;
    const lot: Lot = {
      bucket: this.#bucketOf(name),
      held: 0,
      left: 0,
      emptyUntil: 0,
      asking: undefined,
      usedAt: performance.now(),
    };
    this.#lots.set(name, lot);
    return lot;
  }

  #bucketOf(name: string): Bucket {
    return { name: `${this.#purpose} ${name}`, ...this.#limits };
  }
}
