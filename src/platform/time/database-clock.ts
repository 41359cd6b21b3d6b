import type { Clock, Log } from "../ports.ts";
import type { Queries } from "../storage/database.ts";

const LOOK_MILLISECONDS = 10_000;
/** A difference of less is the network's. */
const NOTABLE_MILLISECONDS = 1_000;

/**
 * The database's clock, which all processes on it share: leases, schedules and expiries of one must mean the same to
 * another whose machine's clock is wrong. Asked for now and then; in between this machine's steady clock counts on.
 */
export class DatabaseClock implements Clock {
  readonly #machine: Clock;
  readonly #queries: Queries;
  readonly #log: Log;
  /** Database time less the steady clock's. */
  #offset = 0;
  #cancel: () => void = () => {};
  #warned = false;
  #stopped = false;

  constructor(machine: Clock, queries: Queries, log: Log) {
    this.#machine = machine;
    this.#queries = queries;
    this.#log = log;
  }

  readonly now = (): number => Math.floor(this.#machine.elapsed() + this.#offset);
  readonly elapsed = (): number => this.#machine.elapsed();
  readonly uptime = (): number => this.#machine.uptime();
  readonly after = (milliseconds: number, callback: () => void): (() => void) =>
    this.#machine.after(milliseconds, callback);

  /** Resolves once the clock is right. */
  async start(): Promise<void> {
    await this.#look();
    this.#plan();
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel();
  }

  #plan(): void {
    if (this.#stopped) return;
    this.#cancel = this.#machine.after(LOOK_MILLISECONDS, () => {
      this.#look().then(
        () => this.#plan(),
        // A database that does not answer is spoken of elsewhere; the clock goes on by itself.
        () => this.#plan(),
      );
    });
  }

  async #look(): Promise<void> {
    const asked = this.#machine.elapsed();
    const row = await this.#queries.get<{ now: number }>(
      "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT) AS now",
    );
    const answered = this.#machine.elapsed();
    // The answer was made about half way; a slow one tells little.
    const measured = row!.now - (asked + answered) / 2;
    if (Math.abs(measured - this.#offset) > (answered - asked) / 2) this.#offset = measured;
    const ahead = Math.round(this.#machine.now() - this.now());
    if (Math.abs(ahead) > NOTABLE_MILLISECONDS && !this.#warned) {
      this.#warned = true;
      this.#log.warn({ ahead_ms: ahead }, "this machine's clock differs from the database's, which is used instead");
    }
  }
}
