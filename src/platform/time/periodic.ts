import type { Clock, Log } from "../ports.ts";
import { StorageUnavailableError } from "../storage/database.ts";

/** Runs a task periodically, never twice at once, until it is stopped. */
export class Periodic {
  readonly #tools: { clock: Clock; log: Log };
  readonly #milliseconds: number;
  readonly #task: (signal: AbortSignal) => Promise<void>;
  readonly #stopping = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #isFailing = false;
  #cancelTimer: () => void = () => {};

  /** The task returns early once its signal is aborted. */
  constructor(tools: { clock: Clock; log: Log }, milliseconds: number, task: (signal: AbortSignal) => Promise<void>) {
    this.#tools = tools;
    this.#milliseconds = milliseconds;
    this.#task = task;
  }

  start(): void {
    this.#cancelTimer = this.#tools.clock.after(this.#milliseconds, () => {
      this.#running = this.#run();
    });
  }

  /** Resolves once the task no longer runs. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#cancelTimer();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { log } = this.#tools;
    try {
      await this.#task(this.#stopping.signal);
      this.#isFailing = false;
    } catch (error) {
      if (!(error instanceof StorageUnavailableError)) log.error({ err: error }, "a periodic task failed");
      // Of several failures in a row, only the first is logged.
      else if (!this.#isFailing) log.warn({ err: error }, "a periodic task failed and will be retried");
      this.#isFailing = true;
    }
    if (!this.#stopping.signal.aborted) this.start();
  }
}
