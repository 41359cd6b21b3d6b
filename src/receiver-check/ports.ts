/** What a check takes from outside. */
export interface Clock {
  /** Milliseconds that never run backwards; only differences mean something. */
  now(): number;
  /** Unix time in milliseconds. */
  unixMilliseconds(): number;
  /** Resolves after so many milliseconds; rejects where the whole check is given up. */
  sleep(milliseconds: number): Promise<void>;
}
