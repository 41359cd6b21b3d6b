/** What a check takes from its environment. */
export interface Clock {
  /** Milliseconds of a monotonic clock. Only differences are meaningful. */
  monotonicMilliseconds(): number;
  /** Unix time in milliseconds. */
  unixMilliseconds(): number;
  /** Resolves after this many milliseconds. Rejects if the whole check is aborted. */
  sleep(milliseconds: number): Promise<void>;
}
