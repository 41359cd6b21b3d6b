import type { Check } from "./check.ts";
import type { Clock } from "./exchange.ts";
import { type Observer, ObserverError } from "./observer.ts";
import type { Subject } from "./subject.ts";

const POLL_MILLISECONDS = 50;
export const PATIENCE_MILLISECONDS = 10_000;
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
    const started = clock.elapsed();
    let before = await observer.count(ids);
    for (let quietSince = started; clock.elapsed() - quietSince < MIN_QUIET_MILLISECONDS;) {
      await clock.sleep(POLL_MILLISECONDS);
      const count = await observer.count(ids);
      if (count === before) continue;
      before = count;
      if (clock.elapsed() - started < PATIENCE_MILLISECONDS) quietSince = clock.elapsed();
    }
    return new Effects(observer, clock, ids, before);
  }

  /** Waits until this many effects were counted, for at most 10 s. Resolves with their number. */
  async reach(expected: number): Promise<number> {
    const started = this.#clock.elapsed();
    for (;;) {
      const count = await this.#count();
      const elapsed = this.#clock.elapsed() - started;
      if (count >= expected) this.#delay = Math.max(this.#delay, elapsed);
      if (count >= expected || elapsed >= PATIENCE_MILLISECONDS) return count;
      await this.#clock.sleep(POLL_MILLISECONDS);
    }
  }

  /** Like `reach`, then waits for an effect too many, three times as long as an effect has taken so far. */
  async settle(expected: number): Promise<number> {
    let count = await this.reach(expected);
    const started = this.#clock.elapsed();
    const quiet = Math.min(MAX_QUIET_MILLISECONDS, Math.max(MIN_QUIET_MILLISECONDS, 3 * this.#delay));
    while (count === expected && this.#clock.elapsed() - started < quiet) {
      await this.#clock.sleep(POLL_MILLISECONDS);
      count = await this.#count();
    }
    return count;
  }

  async #count(): Promise<number> {
    return (await this.#observer.count(this.#ids)) - this.#before;
  }
}

/** Returns whether the receiver acts on the deliveries of these checks; undefined if nothing shows it. */
export async function actsOn(checks: readonly Check[], subject: Subject): Promise<boolean | undefined> {
  const { observer, clock, ids } = subject;
  if (observer === undefined || checks.length === 0) return undefined;
  const valid = subject.sample();
  const watched = [valid.id];
  try {
    const effects = await Effects.countFor(watched, observer, clock);
    const known = ids.length;
    await Promise.all(checks.map((check) => check.run(subject)));
    watched.push(...ids.slice(known));
    await subject.deliver(valid);
    const count = await effects.settle(1);
    return count === 0 ? undefined : count > 1;
  } catch (error) {
    if (error instanceof ObserverError) return undefined;
    throw error;
  }
}
