import type { Clock } from "./ports.ts";

export interface Expirable {
  /** When the item began, on the clock's scale. */
  readonly startedAt: number;
  /** The time is over; called once. */
  expire(): void;
}

/**
 * One limit for many exchanges at the price of one timer: it watches the oldest, and looks round for the next oldest
 * when it fires.
 */
export class Deadlines {
  readonly #limit: number;
  readonly #clock: Clock;
  readonly #running: () => Iterable<Expirable>;
  #cancel: (() => void) | undefined;

  /** `running` gives what has begun and not ended. */
  constructor(limit: number, clock: Clock, running: () => Iterable<Expirable>) {
    this.#limit = limit;
    this.#clock = clock;
    this.#running = running;
  }

  /** Something has begun, now. */
  began(): void {
    if (this.#cancel === undefined) this.#watch(this.#clock.now());
  }

  close(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #watch(startedAt: number): void {
    const wait = startedAt + this.#limit - this.#clock.now();
    this.#cancel = this.#clock.after(Math.ceil(wait), () => this.#check());
  }

  #check(): void {
    const now = this.#clock.now();
    for (const item of this.#running()) if (item.startedAt + this.#limit <= now) item.expire();
    let oldest = Infinity;
    for (const { startedAt } of this.#running()) oldest = Math.min(oldest, startedAt);
    this.#cancel = undefined;
    if (oldest !== Infinity) this.#watch(oldest);
  }
}
