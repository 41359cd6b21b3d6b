import type { Services } from "../services.ts";
import { stateOfLog } from "../storage/event-log.ts";

const LOOK_MILLISECONDS = 250;

/**
 * Finds by itself, while there is anybody to tell, that the log has changed: what other processes say of their commits
 * may get lost. One small question for all sessions of this process.
 */
export class LogWatch {
  private readonly services: Services;
  private readonly isNeeded: () => boolean;
  private readonly changed: () => void;
  private last = "";
  private cancel: (() => void) | undefined;
  private stopped = false;

  constructor(services: Services, isNeeded: () => boolean, changed: () => void) {
    this.services = services;
    this.isNeeded = isNeeded;
    this.changed = changed;
  }

  /** Looks from now on, while it is needed. */
  start(): void {
    // An SQLite file has no other processes.
    if (this.stopped || this.services.database.dialect === "sqlite") return;
    this.cancel ??= this.services.clock.after(LOOK_MILLISECONDS, () => {
      this.cancel = undefined;
      void this.look().finally(() => {
        if (this.isNeeded()) this.start();
      });
    });
  }

  stop(): void {
    this.stopped = true;
    this.cancel?.();
  }

  private async look(): Promise<void> {
    try {
      const state = await stateOfLog(this.services.database);
      if (state === this.last) return;
      this.last = state;
      this.changed();
    } catch {
      // A database that does not answer is spoken of elsewhere; whatever changed is found at the next look.
    }
  }
}
