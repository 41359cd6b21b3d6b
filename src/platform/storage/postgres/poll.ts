import type { Queries } from "../database.ts";

const LOOK_MILLISECONDS = 250;

/**
 * Finds by itself, while there is anybody to tell, that something has changed: what other processes say of their commits
 * may get lost. One small question for everybody in this process.
 */
export class Poll {
  readonly #queries: Queries;
  readonly #stateOf: (queries: Queries) => Promise<string>;
  readonly #timer: NodeJS.Timeout;
  #last = "";
  #looking = false;

  constructor(
    queries: Queries,
    stateOf: (queries: Queries) => Promise<string>,
    tell: { isNeeded: () => boolean; changed: () => void },
  ) {
    this.#queries = queries;
    this.#stateOf = stateOf;
    this.#timer = setInterval(() => {
      if (!this.#looking && tell.isNeeded()) void this.#look(tell.changed);
    }, LOOK_MILLISECONDS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #look(changed: () => void): Promise<void> {
    this.#looking = true;
    try {
      const state = await this.#stateOf(this.#queries);
      if (state !== this.#last) changed();
      this.#last = state;
    } catch {
      // A database that does not answer is spoken of elsewhere; whatever changed is found at the next look.
    } finally {
      this.#looking = false;
    }
  }
}
