import type { Clock, Log } from "../ports.ts";
import {
  type Database,
  type PartOf,
  StorageUnavailableError,
  type Transaction,
  type WriteOptions,
  writeRows,
} from "../storage/database.ts";

/** What the platform does automatically for all tenants. The names are the label of a metric. */
export const BACKGROUND_TASKS = [
  "bulk_operation",
  "clock_advance",
  "delivery",
  "leak_report",
  "overdue_check",
  "retention",
] as const;
export type BackgroundTask = (typeof BACKGROUND_TASKS)[number];

const LOG_AGAIN_MILLISECONDS = 3_600_000;
const MAX_CAUSES = 1000;

/**
 * Isolates tenants and rows in background work: what throws for one is counted, logged once an hour per cause, and does
 * not stop the next one.
 */
export class BackgroundWork {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #count: (task: BackgroundTask) => void;
  readonly #loggedAt = new Map<string, number>();

  constructor({ clock, log }: { clock: Clock; log: Log }, count: (task: BackgroundTask) => void) {
    this.#clock = clock;
    this.#log = log;
    this.#count = count;
  }

  /** Runs the work of one tenant or row. Resolves with undefined if it throws. */
  async run<Result>(task: BackgroundTask, of: Record<string, unknown>, work: () => Promise<Result>) {
    try {
      return await work();
    } catch (error) {
      this.failed(task, of, error);
      return undefined;
    }
  }

  /** Writes a unit of work over many rows, without those whose part throws. */
  write<Result>(
    task: BackgroundTask,
    database: Database,
    unit: (tx: Transaction, partOf: PartOf) => Promise<Result>,
    options: WriteOptions = {},
  ): Promise<Result> {
    return writeRows(database, unit, { ...options, onBroken: (row, error) => this.failed(task, { row }, error) });
  }

  /** Counts a failure, and logs it unless the same cause was logged within the last hour. */
  failed(task: BackgroundTask, of: Record<string, unknown>, error: unknown): void {
    this.#count(task);
    const cause = `${task} ${String(error)}`;
    const now = this.#clock.elapsed();
    const loggedAt = this.#loggedAt.get(cause);
    if (loggedAt !== undefined && now - loggedAt < LOG_AGAIN_MILLISECONDS) return;
    this.#loggedAt.delete(cause);
    const oldest = this.#loggedAt.keys().next();
    if (this.#loggedAt.size >= MAX_CAUSES && !oldest.done) this.#loggedAt.delete(oldest.value);
    this.#loggedAt.set(cause, now);
    const level = error instanceof StorageUnavailableError ? "warn" : "error";
    this.#log[level]({ task, ...of, err: error }, "background work failed; the rest continues");
  }
}
