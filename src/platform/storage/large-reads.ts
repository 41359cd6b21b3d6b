import { setImmediate } from "node:timers";

/**
 * Work on large data in this process: one piece at a time, so that the event loop can do everything else in between.
 */
export class Turns {
  #last: Promise<void> = Promise.resolve();

  /**
   * Resolves when it is the caller's turn, with a function that ends it. What the caller does before its next await
   * belongs to its turn.
   */
  async begin(): Promise<() => void> {
    const previous = this.#last;
    let end = () => {};
    this.#last = new Promise((resolve) => {
      end = () => void setImmediate(resolve);
    });
    await previous;
    return end;
  }

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    const end = await this.begin();
    try {
      return await work();
    } finally {
      end();
    }
  }
}

/** Reads of large bodies, and of rows to search. */
export const reads = new Turns();
