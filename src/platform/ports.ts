import { randomBytes } from "node:crypto";
import { uptime } from "node:os";
import { callAfter, type Clock as BaseClock, systemClock as baseClock } from "../network/clock.ts";

/** What the platform takes from its environment, so that a test can run three days of retries in a second. */
export interface Clock extends BaseClock {
  /** Milliseconds since the machine started, including those when it slept. Coarser than `elapsed`. */
  uptime: () => number;
}

export interface Random {
  /** Cryptographically strong random bytes. */
  bytes: (size: number) => Uint8Array;
  /** A number in [0, 1), for jitter. */
  fraction: () => number;
}

type LogLine = (fields: Record<string, unknown>, message: string) => void;

/** Structured log for operators. Never pass it a secret. */
export interface Log {
  debug: LogLine;
  info: LogLine;
  warn: LogLine;
  error: LogLine;
}

/** The machine's own clock. */
export const systemClock: Clock = {
  ...baseClock,
  uptime: () => uptime() * 1000,
  after: (milliseconds, callback) => callAfter(milliseconds, callback, { ref: false }),
};

const POOL_BYTES = 8192;

/** The machine's own randomness, drawn in pools: one system call serves hundreds of IDs. */
export const systemRandom: Random = (() => {
  let pool = Buffer.alloc(0);
  return {
    bytes(size) {
      if (size > pool.length) pool = randomBytes(Math.max(POOL_BYTES, size));
      const taken = pool.subarray(0, size);
      pool = pool.subarray(size);
      return taken;
    },
    fraction: Math.random,
  };
})();
