import { formatDuration } from "./response.ts";
import type { Observer } from "./observer.ts";
import type { Clock } from "./ports.ts";

const POLL_MILLISECONDS = 50;
const PATIENCE_MILLISECONDS = 10_000;
const MIN_QUIET_MILLISECONDS = 500;
const MAX_QUIET_MILLISECONDS = 5000;

/** Counts the receiver's effects of some events, from now on. */
export class Effects {
  readonly #observer: Observer;
  readonly #clock: Clock;
  readonly #ids: readonly string[];
  readonly #before: number;
  /** How long the slowest effect took to appear. */
  #delay = 0;

  private constructor(observer: Observer, clock: Clock, ids: readonly string[], before: number) {
    this.#observer = observer;
    this.#clock = clock;
    this.#ids = ids;
    this.#before = before;
  }

  /** Begins to count once effects of earlier deliveries have stopped. */
  static async countFor(ids: readonly string[], observer: Observer, clock: Clock): Promise<Effects> {
    const started = clock.now();
    let before = await observer.count(ids);
    for (let quietSince = started; clock.now() - quietSince < MIN_QUIET_MILLISECONDS;) {
      await clock.sleep(POLL_MILLISECONDS);
      const count = await observer.count(ids);
      if (count === before) continue;
      before = count;
      if (clock.now() - started < PATIENCE_MILLISECONDS) quietSince = clock.now();
    }
    return new Effects(observer, clock, ids, before);
  }

  /** Waits until this many effects were seen, for at most 10 s. Resolves with their number. */
  async reach(wanted: number): Promise<number> {
    const started = this.#clock.now();
    for (;;) {
      const count = await this.#count();
      const elapsed = this.#clock.now() - started;
      if (count >= wanted) this.#delay = Math.max(this.#delay, elapsed);
      if (count >= wanted || elapsed >= PATIENCE_MILLISECONDS) return count;
      await this.#clock.sleep(POLL_MILLISECONDS);
    }
  }

  /** Like `reach`, then keeps looking for one too many: for three times as long as an effect has taken so far. */
  async settle(wanted: number): Promise<number> {
    let count = await this.reach(wanted);
    const started = this.#clock.now();
    const quiet = Math.min(MAX_QUIET_MILLISECONDS, Math.max(MIN_QUIET_MILLISECONDS, 3 * this.#delay));
    while (count === wanted && this.#clock.now() - started < quiet) {
      await this.#clock.sleep(POLL_MILLISECONDS);
      count = await this.#count();
    }
    return count;
  }

  async #count(): Promise<number> {
    return (await this.#observer.count(this.#ids)) - this.#before;
  }
}

export const PATIENCE_IN_WORDS = formatDuration(PATIENCE_MILLISECONDS);
