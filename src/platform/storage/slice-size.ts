import type { Clock } from "../ports.ts";
import type { Queries } from "./database.ts";

const MAX_ROWS = 512;
/** Rows differ in cost a hundredfold: an event's body has up to 64 pages. */
const FIRST_ROWS = 16;
/** Statement time of a slice. Requests also wait for its commit. */
const MAX_MILLISECONDS = 3;

/**
 * How many rows a transaction of background work adds or removes. SQLite's statements run in the event loop, where
 * requests wait for them, so there the number follows the time that they took. PostgreSQL's do not.
 */
export class SliceSize {
  readonly #clock: Clock;
  readonly #isFixed: boolean;
  #rows: number;
  #began = 0;

  constructor(dialect: Queries["dialect"], clock: Clock) {
    this.#clock = clock;
    this.#isFixed = dialect === "postgres";
    this.#rows = this.#isFixed ? MAX_ROWS : FIRST_ROWS;
  }

  get rows(): number {
    return this.#rows;
  }

  /** True once the slice that runs has used its time. */
  get isOver(): boolean {
    return this.#isFixed || this.#clock.elapsed() - this.#began >= MAX_MILLISECONDS;
  }

  /** Runs a slice's statements. The next slice has as many rows as fit by the time that they took, at most doubled. */
  async measure<Result>(slice: () => Promise<Result>): Promise<Result> {
    this.#began = this.#clock.elapsed();
    const result = await slice();
    if (this.#isFixed) return result;
    const took = this.#clock.elapsed() - this.#began;
    if (took > MAX_MILLISECONDS) this.#rows = Math.max(1, Math.floor((this.#rows * MAX_MILLISECONDS) / took));
    else if (took < MAX_MILLISECONDS / 2) this.#rows = Math.min(MAX_ROWS, this.#rows * 2);
    return result;
  }
}
