import type { Clock } from "../../../src/network/clock.ts";

interface Timer {
  at: number;
  callback: () => void;
}

/** A clock that only the test advances. */
export class FakeClock implements Clock {
  readonly #start = Date.now();
  #elapsed = 0;
  #timers: Timer[] = [];

  elapsed(): number {
    return this.#elapsed;
  }

  now(): number {
    return this.#start + this.#elapsed;
  }

  after(milliseconds: number, callback: () => void): () => void {
    const timer = { at: this.#elapsed + milliseconds, callback };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** Advances the time. Timers run in order, each at its own time. */
  advance(milliseconds: number): void {
    const end = this.#elapsed + milliseconds;
    for (let due = this.#earliest(end); due !== undefined; due = this.#earliest(end)) {
      const timer = due;
      this.#timers = this.#timers.filter((other) => other !== timer);
      this.#elapsed = timer.at;
      timer.callback();
    }
    this.#elapsed = end;
  }

  /** The times until the waiting timers are due, in milliseconds. */
  get waiting(): number[] {
    return this.#timers.map(({ at }) => at - this.#elapsed).sort((a, b) => a - b);
  }

  #earliest(end: number): Timer | undefined {
    return this.#timers
      .filter(({ at }) => at <= end)
      .reduce<Timer | undefined>(
        (first, timer) => (first === undefined || timer.at < first.at ? timer : first),
        undefined,
      );
  }
}
