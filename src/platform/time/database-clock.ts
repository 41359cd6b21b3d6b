import type { Clock, Log } from "../ports.ts";
import type { Queries } from "../storage/database.ts";

const POLL_MILLISECONDS = 10_000;
/** A smaller difference is due to the network. */
const NOTABLE_MILLISECONDS = 1_000;

/**
 * The database's clock, shared by all processes on it, so that leases, schedules and expiry times mean the same even if
 * a machine's clock is wrong. It is queried periodically; in between, this machine's monotonic clock is added.
 */
export class DatabaseClock implements Clock {
  readonly #machine: Clock;
  readonly #queries: Queries;
  readonly #log: Log;
  /** Database time minus the monotonic clock. */
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
    await this.#poll();
    this.#plan();
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel();
  }

  #plan(): void {
    if (this.#stopped) return;
    this.#cancel = this.#machine.after(POLL_MILLISECONDS, () => {
      // Other parts report an unreachable database. The clock keeps running without it.
      void this.#poll()
        .catch(() => {})
        .then(() => this.#plan());
    });
  }

  async #poll(): Promise<void> {
    const startedAt = this.#machine.elapsed();
    const row = await this.#queries.get<{ now: number }>(
      "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT) AS now",
    );
    const receivedAt = this.#machine.elapsed();
    // The database read its clock about halfway through the query. A slow response is not accurate.
    const measured = row!.now - (startedAt + receivedAt) / 2;
    if (Math.abs(measured - this.#offset) > (receivedAt - startedAt) / 2) this.#offset = measured;
    const ahead = Math.round(this.#machine.now() - this.now());
    if (Math.abs(ahead) > NOTABLE_MILLISECONDS && !this.#warned) {
      this.#warned = true;
      this.#log.warn({ ahead_ms: ahead }, "this machine's clock differs from the database's, which is used instead");
    }
  }
}
