/** What the platform takes from outside, so that a test can run three days of retries in a second. */
export interface Clock {
  /** Unix time in milliseconds. */
  now: () => number;
  /** Milliseconds from any fixed moment, for durations: goes on evenly when the machine's time is set. */
  elapsed: () => number;
  /** Milliseconds since the machine started, including those when it slept. Coarser than `elapsed`. */
  uptime: () => number;
  /** Calls back once after a delay in milliseconds; the returned function cancels it. Never keeps the process alive. */
  after: (milliseconds: number, callback: () => void) => () => void;
}

export interface Random {
  /** Cryptographically strong random bytes. */
  bytes: (size: number) => Uint8Array;
  /** A number in [0, 1), for jitter. */
  fraction: () => number;
}

type LogLine = (fields: Record<string, unknown>, message: string) => void;

/** Structured log of what an operator should know; never given a secret. */
export interface Log {
  debug: LogLine;
  info: LogLine;
  warn: LogLine;
  error: LogLine;
}
