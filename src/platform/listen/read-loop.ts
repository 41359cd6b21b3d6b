import { setImmediate } from "node:timers";
import type { Clock } from "../ports.ts";
import { StorageUnavailableError } from "../storage/database.ts";

/** After how long the log is read again where some of it could not be read yet. */
const HELD_BACK_MILLISECONDS = 20;
const UNAVAILABLE_MILLISECONDS = 250;

export interface ReadLoopTools {
  clock: Clock;
  /** Reads once and sends what it read; answers whether there may be more, now or in a moment. */
  read: () => Promise<"end" | "more" | "held back">;
  /** Told once of a failure that waiting does not mend; nothing is read after it. */
  failed: (error: unknown) => void;
}

/**
 * Reads the log on as it is asked to, one read at a time; what is asked for during a read is done after it. Outlasts the
 * database's absence: nothing is lost by waiting.
 */
export class ReadLoop {
  private readonly tools: ReadLoopTools;
  private asked = false;
  private running = false;
  private stopped = false;
  private cancelLater: (() => void) | undefined;

  constructor(tools: ReadLoopTools) {
    this.tools = tools;
  }

  ask(): void {
    this.asked = true;
    if (this.running || this.stopped) return;
    this.running = true;
    this.run().catch((error: unknown) => {
      this.running = false;
      if (error instanceof StorageUnavailableError) return this.askLater(UNAVAILABLE_MILLISECONDS);
      this.stop();
      this.tools.failed(error);
    });
  }

  stop(): void {
    this.stopped = true;
    this.cancelLater?.();
  }

  private async run(): Promise<void> {
    while (this.asked && !this.stopped) {
      this.asked = false;
      const found = await this.tools.read();
      if (found === "more") {
        this.asked = true;
        // An SQLite file answers at once: reads that only follow each other would leave no turn to anybody else.
        await new Promise((resolve) => {
          setImmediate(resolve);
        });
      } else if (found === "held back") this.askLater(HELD_BACK_MILLISECONDS);
    }
    this.running = false;
  }

  private askLater(milliseconds: number): void {
    if (this.stopped) return;
    this.cancelLater ??= this.tools.clock.after(milliseconds, () => {
      this.cancelLater = undefined;
      this.ask();
    });
  }
}
