import { Periodic } from "../time/periodic.ts";
import type { With } from "../tools.ts";
import type { Queries } from "../storage/database.ts";

const POLL_MILLISECONDS = 5_000;
/** The platform's own transactions take at most a few seconds. */
const WARN_SECONDS = 15;

/**
 * Finds the oldest transaction of the PostgreSQL server that writes, in any database. Events committed after it began
 * are held back from listeners, event streams and lists until it ends.
 */
export class TransactionWatch {
  readonly #tools: With<"database" | "clock" | "log">;
  readonly #polling: Periodic;
  /** The oldest one at the last check, and when it was first seen. */
  #oldest: { id: string; seenAt: number } | undefined;
  #warnedOf: string | undefined;

  constructor(tools: With<"database" | "clock" | "log">) {
    this.#tools = tools;
    this.#polling = new Periodic(tools, POLL_MILLISECONDS, async () => void (await this.ageSeconds()));
  }

  start(): void {
    if (this.#tools.database.dialect === "postgres") this.#polling.start();
  }

  stop(): Promise<void> {
    return this.#polling.stop();
  }

  /** Returns the age of the oldest one, or 0 if there is none. Warns once of one that is too old. */
  async ageSeconds(): Promise<number> {
    const { database, clock, log } = this.#tools;
    const found = await oldestTransaction(database);
    if (found === undefined) {
      this.#oldest = undefined;
      return 0;
    }
    const { id, age_ms: ageMs, ...holder } = found;
    if (this.#oldest?.id !== id) this.#oldest = { id, seenAt: clock.elapsed() };
    // PostgreSQL shows the details of other users' transactions to some roles only.
    const seconds = Math.max(ageMs ?? 0, clock.elapsed() - this.#oldest.seenAt) / 1000;
    if (seconds >= WARN_SECONDS && this.#warnedOf !== id) {
      this.#warnedOf = id;
      log.warn(
        { age_seconds: Math.round(seconds), transaction: id, ...holder },
        "a transaction on the PostgreSQL server holds events back from listeners, event streams and lists: end it",
      );
    }
    return seconds;
  }
}

/** A transaction that writes. Which details are visible depends on the role. */
interface OpenTransaction {
  id: string;
  pid: number | null;
  database: string | null;
  application: string | null;
  age_ms: number | null;
}

/** Returns the oldest transaction that holds the log back (PostgreSQL only), in any database of the server. */
async function oldestTransaction(queries: Queries): Promise<OpenTransaction | undefined> {
  if (queries.dialect === "sqlite") return undefined;
  return queries.get<OpenTransaction>(
    `SELECT CAST(pg_snapshot_xmin(now) AS TEXT) AS id, a.pid, CAST(a.datname AS TEXT) AS database,
            a.application_name AS application,
            CAST(EXTRACT(EPOCH FROM clock_timestamp() - a.xact_start) * 1000 AS BIGINT) AS age_ms
     FROM pg_current_snapshot() AS now
     LEFT JOIN pg_stat_activity a ON a.backend_xid = CAST(pg_snapshot_xmin(now) AS xid)
     WHERE pg_snapshot_xmin(now) < pg_snapshot_xmax(now)`,
  );
}
