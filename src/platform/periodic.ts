import type { Clock, Log } from "./ports.ts";
import { StorageUnavailableError } from "./storage/database.ts";

/** Runs a task every so often, never twice at once, until it is stopped. */
export class Periodic {
  private readonly clock: Clock;
  private readonly log: Log;
  private readonly milliseconds: number;
  private readonly task: (signal: AbortSignal) => Promise<void>;
  private readonly stopping = new AbortController();
  private running: Promise<void> = Promise.resolve();
  private cancelTimer: () => void = () => {};

  /** The task ends early once its signal is aborted. */
  constructor(
    { clock, log }: { clock: Clock; log: Log },
    milliseconds: number,
    task: (signal: AbortSignal) => Promise<void>,
  ) {
    this.clock = clock;
    this.log = log;
    this.milliseconds = milliseconds;
    this.task = task;
  }

  start(): void {
    this.cancelTimer = this.clock.after(this.milliseconds, () => {
      this.running = this.run();
    });
  }

  /** Resolves once the task does not run any more. */
  async stop(): Promise<void> {
    this.stopping.abort();
    this.cancelTimer();
    await this.running;
  }

  private async run(): Promise<void> {
    try {
      await this.task(this.stopping.signal);
    } catch (error) {
      // A database that takes no writes has said so itself.
      if (!(error instanceof StorageUnavailableError)) this.log.error({ err: error }, "a periodic task failed");
    }
    if (!this.stopping.signal.aborted) this.start();
  }
}
