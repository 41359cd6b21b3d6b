import type { Clock } from "./ports.ts";

export interface Expirable {
  /** When the item began, on the clock's scale. */
  readonly startedAt: number;
  expire(): void;
}

/**
 * One limit for many exchanges at the price of one timer: all get the same time, so they fall due in the order in
 * which they began, and only the oldest needs to be watched.
 */
export class Deadlines {
  readonly #limit: number;
  readonly #clock: Clock;
  readonly #running = new Set<Expirable>();
  #cancel: (() => void) | undefined;

  constructor(limit: number, clock: Clock) {
    this.#limit = limit;
    this.#clock = clock;
  }

  add(item: Expirable): void {
    this.#running.add(item);
    // Beside an older item, that one's limit is being watched or is about to be.
    if (this.#running.size === 1 && this.#cancel === undefined) this.#watch(item);
  }

  delete(item: Expirable): void {
    this.#running.delete(item);
  }

  close(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#running.clear();
  }

  #watch(oldest: Expirable): void {
    const wait = Math.max(0, oldest.startedAt + this.#limit - this.#clock.now());
    this.#cancel = this.#clock.after(Math.ceil(wait), () => this.#check());
  }

  #check(): void {
    this.#cancel = undefined;
    for (const item of this.#running) {
      if (item.startedAt + this.#limit > this.#clock.now()) {
        if (this.#cancel === undefined) this.#watch(item);
        return;
      }
      this.#running.delete(item);
      item.expire();
    }
  }
}
