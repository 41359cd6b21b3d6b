import { randomBytes } from "node:crypto";
import { uptime } from "node:os";
import { callAfter } from "../network/clock.ts";
import type { Clock, Random } from "./ports.ts";

/** The machine's own clock. */
export const systemClock: Clock = {
  now: Date.now,
  elapsed: () => performance.now(),
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
