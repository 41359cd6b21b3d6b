import { isId, lowestIdAt, timeOfId } from "../contract/ids.ts";
import type { Clock } from "./ports.ts";

/** So long nothing may come, with nothing left to acknowledge, until all that was missed is taken to be here. */
const QUIET_MS = 1_000;
const SAMPLE_MS = 1_000;

/**
 * Counts the events that happened while there was no connection, as they arrive after it. The platform does not say
 * where they end: an event that is newer than the new connection does, or a while without any.
 */
export class CatchUp {
  readonly #clock: Clock;
  /** True while events are under way, so that the platform may be waiting to send more. */
  readonly #busy: () => boolean;
  /** How far the time in the platform's ids lies behind the time here: the least of what was seen. */
  #lag = Infinity;
  #sampledAt = -Infinity;
  #lastArrival = 0;
  #missed = 0;
  #newest = "";
  #done: ((missed: number) => void) | undefined;
  #cancel: (() => void) | undefined;

  constructor(clock: Clock, busy: () => boolean) {
    this.#clock = clock;
    this.#busy = busy;
  }

  /** The connection is back; `done` is called once with the number of events that had been missed. */
  begin(done: (missed: number) => void): void {
    const lag = this.#lag === Infinity ? 0 : this.#lag;
    this.#newest = lowestIdAt("event", this.#clock.unixMilliseconds() - lag);
    this.#missed = 0;
    this.#done = done;
    this.#lastArrival = this.#clock.now();
    this.#cancel = this.#clock.after(QUIET_MS, () => this.#check());
  }

  /** An event came that had not come before. */
  add(id: string): void {
    const now = this.#clock.now();
    if (now - this.#sampledAt >= SAMPLE_MS && isId("event", id)) {
      this.#sampledAt = now;
      this.#lag = Math.min(this.#lag, this.#clock.unixMilliseconds() - timeOfId(id));
    }
    if (this.#done === undefined) return;
    if (isId("event", id) && id >= this.#newest) return this.end();
    this.#missed += 1;
    this.#lastArrival = now;
  }

  /** Takes what has come so far for all. */
  end(): void {
    const done = this.#done;
    this.#done = undefined;
    this.#cancel?.();
    done?.(this.#missed);
  }

  #check(): void {
    const wait = this.#lastArrival + QUIET_MS - this.#clock.now();
    if (wait <= 0 && !this.#busy()) return this.end();
    this.#cancel = this.#clock.after(wait > 0 ? Math.ceil(wait) : QUIET_MS, () => this.#check());
  }
}
