import { RESOURCES } from "../../contract/resources.ts";
import { touchApiKey } from "../storage/api-keys.ts";
import { touchSession } from "../storage/sessions.ts";
import type { With } from "../tools.ts";

/** `last_used` is accurate to the minute. */
const COARSENESS_MS = 60_000;
const COLLECT_MS = 1000;

/**
 * Records when keys and sessions were last used, without a write per request: once a minute for each, and those of a
 * second together.
 */
export class KeyUsage {
  readonly #tools: With<"database" | "clock" | "log">;
  readonly #pending = new Map<string, number>();
  #cancel: (() => void) | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(tools: With<"database" | "clock" | "log">) {
    this.#tools = tools;
  }

  /** Records that a key or session was used at a real time: the test clock does not move it. */
  note(key: { id: string; last_used: number | null }, now: number): void {
    if (key.last_used !== null && Math.abs(now - key.last_used) < COARSENESS_MS) return;
    if (this.#pending.has(key.id)) return;
    this.#pending.set(key.id, now);
    this.#cancel ??= this.#tools.clock.after(COLLECT_MS, () => this.#flush());
  }

  /** Resolves when all records are written (or could not be, which is logged). */
  async close(): Promise<void> {
    this.#flush();
    await this.#writing;
  }

  #flush(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    const noted = [...this.#pending];
    this.#pending.clear();
    if (noted.length > 0) this.#writing = this.#write(noted);
  }

  async #write(noted: readonly [id: string, at: number][]): Promise<void> {
    try {
      await this.#tools.database.write(async (tx) => {
        // In one order everywhere; otherwise two processes could wait for each other.
        for (const [id, at] of noted.toSorted(([a], [b]) => (a < b ? -1 : 1))) {
          await (id.startsWith(RESOURCES.api_key.prefix) ? touchApiKey : touchSession)(tx, id, at);
        }
      });
    } catch (error) {
      this.#tools.log.warn({ err: error }, "the last use of keys and sessions could not be written");
    }
  }
}
