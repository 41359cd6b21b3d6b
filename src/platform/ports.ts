import type { Clock as BaseClock } from "../network/clock.ts";

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
