import { isId, lowestIdAt, timeOfId } from "../contract/ids.ts";
import type { Clock } from "../network/clock.ts";

/** After this long without an event, though the platform may send, all missed events are assumed to have arrived. */
const QUIET_MS = 1_000;
const SAMPLE_MS = 1_000;

/**
 * Counts the missed events as they arrive after a reconnect. The platform does not mark the last one: it is detected by
 * an event that is newer than the connection, or by a pause.
 */
export class CatchUp {
  readonly #clock: Clock;
  /** True while the platform may be waiting for acknowledgements before it sends more. */
  readonly #blocked: () => boolean;
  /** How far the platform's clock, which a test clock may move by days, is known to be ahead of this one. */
  #ahead = 0;
  #sampledAt = -Infinity;
  #lastArrival = 0;
  #missed = 0;
  #newest = "";
  #done: ((missed: number) => void) | undefined;
  #cancel: (() => void) | undefined;

  constructor(clock: Clock, blocked: () => boolean) {
    this.#clock = clock;
    this.#blocked = blocked;
  }

  /** Starts counting after a reconnect; `done` is called once with the number of missed events. */
  begin(done: (missed: number) => void): void {
    this.#newest = lowestIdAt("event", this.#clock.now() + this.#ahead);
    this.#missed = 0;
    this.#done = done;
    this.#lastArrival = this.#clock.elapsed();
    this.#cancel = this.#clock.after(QUIET_MS, () => this.#check());
  }

  /** Records an event that was not received before. */
  add(id: string): void {
    const now = this.#clock.elapsed();
    if (now - this.#sampledAt >= SAMPLE_MS && isId("event", id)) {
      this.#sampledAt = now;
      this.#ahead = Math.max(this.#ahead, timeOfId(id) - this.#clock.now());
    }
    if (this.#done === undefined) return;
    if (isId("event", id) && id >= this.#newest) return this.end();
    this.#missed += 1;
    this.#lastArrival = now;
  }

  /** Stops counting: what has arrived so far is the result. */
  end(): void {
    const done = this.#done;
    this.#done = undefined;
    this.#cancel?.();
    done?.(this.#missed);
  }

  #check(): void {
    const wait = this.#lastArrival + QUIET_MS - this.#clock.elapsed();
    if (wait <= 0 && !this.#blocked()) return this.end();
    this.#cancel = this.#clock.after(wait > 0 ? Math.ceil(wait) : QUIET_MS, () => this.#check());
  }
}
