import type { Log } from "../ports.ts";
import type { Database, Transaction } from "../storage/database.ts";
import { type Bucket, deleteIdleBuckets, returnTokens, takeTokens } from "../storage/rate-buckets.ts";
import type { CreateLimiter, Limiter, Limits, Taken } from "./rate-limit.ts";

/** A process takes a twentieth of a large bucket at once, and grants those tokens without asking the database. */
const ALLOTMENT_SHARE = 20;
/** Tokens that were taken and not granted are released this soon. */
const RETURN_MILLISECONDS = 500;
const CLEANUP_MILLISECONDS = 3_600_000;

/** What this process holds of one bucket. */
interface Allotment {
  bucket: Bucket;
  available: number;
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
  const cleanup = setInterval(() => {
    database.write(deleteIdleBuckets).catch((error: unknown) => {
      log.warn({ err: error }, "old rate limits could not be removed");
    });
  }, CLEANUP_MILLISECONDS);
  returning.unref();
  cleanup.unref();
  return {
    create(purpose, limits) {
      const limiter = new SharedLimiter(database, purpose, limits);
      limiters.push(limiter);
      return limiter;
    },
    async close() {
      clearInterval(returning);
      clearInterval(cleanup);
      await returnIdle(Infinity);
    },
  };
}

const READ_COMMITTED = { isolation: "read committed" } as const;

class SharedLimiter implements Limiter {
  readonly #database: Database;
  readonly #purpose: string;
  readonly #limits: { burst: number; refillMs: number };
  readonly #allotmentSize: number;
  readonly #allotments = new Map<string, Allotment>();

  constructor(database: Database, purpose: string, limits: Limits) {
    this.#database = database;
    this.#purpose = purpose;
    this.#limits = { burst: limits.burst, refillMs: limits.refillSeconds * 1000 };
    this.#allotmentSize = Math.max(1, Math.floor(limits.burst / ALLOTMENT_SHARE));
  }

  async take(name: string): Promise<Taken> {
    const allotment = this.#allotmentOf(name);
    for (;;) {
      if (allotment.available >= 1) {
        allotment.available -= 1;
        allotment.usedAt = performance.now();
        return { wait: 0, left: Math.floor(allotment.available + allotment.left) };
      }
      const empty = allotment.emptyUntil - performance.now();
      if (empty > 0) return { wait: Math.ceil(empty / 1000), left: 0 };
      await (allotment.asking ??= this.#ask(allotment).finally(() => {
        allotment.asking = undefined;
      }));
    }
  }

  async release(name: string): Promise<void> {
    await this.#database.write((tx) => returnTokens(tx, this.#bucketOf(name), 1), READ_COMMITTED);
  }

  /** Releases what has been unused since a time. */
  async returnIdle(before: number): Promise<void> {
    for (const [name, allotment] of this.#allotments) {
      if (allotment.usedAt > before || allotment.asking !== undefined) continue;
      this.#allotments.delete(name);
      const { available } = allotment;
      if (available < 1) continue;
      await this.#database.write((tx) => returnTokens(tx, allotment.bucket, available), READ_COMMITTED);
    }
  }

  async #ask(allotment: Allotment): Promise<void> {
    const take = (tx: Transaction) => takeTokens(tx, allotment.bucket, this.#allotmentSize);
    const { granted, tokens } = await this.#database.write(take, READ_COMMITTED);
    allotment.available += granted;
    allotment.left = Math.max(0, tokens);
    allotment.usedAt = performance.now();
    if (granted < 1) allotment.emptyUntil = performance.now() + (1 - tokens) * this.#limits.refillMs;
  }

  #allotmentOf(name: string): Allotment {
    const existing = this.#allotments.get(name);
    if (existing !== undefined) return existing;
    const empty = { available: 0, left: 0, emptyUntil: 0, asking: undefined };
    const allotment: Allotment = { bucket: this.#bucketOf(name), ...empty, usedAt: performance.now() };
    this.#allotments.set(name, allotment);
    return allotment;
  }

  #bucketOf(name: string): Bucket {
    return { name: `${this.#purpose} ${name}`, ...this.#limits };
  }
}
