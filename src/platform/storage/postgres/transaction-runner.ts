import { setImmediate } from "node:timers";
import type { Log } from "../../ports.ts";
import { StorageUnavailableError, type Topic, type UnitOfWork, type WriteOptions } from "../database.ts";
import type { PostgresConnection } from "./connection.ts";
import { isConflict, isSameViolation } from "./errors.ts";
import type { ConnectionPool } from "./pool.ts";
import { Beginning, PostgresTransaction, type SharedRows } from "./transaction.ts";

const BEGIN = {
  serialized: "BEGIN ISOLATION LEVEL REPEATABLE READ",
  batched: "BEGIN ISOLATION LEVEL REPEATABLE READ",
  "read committed": "BEGIN ISOLATION LEVEL READ COMMITTED",
};
/** After this many conflicts, with changed rows or with new keys, there is too much traffic for a unit of work. */
const MAX_CONFLICTS = 20;
/** Maximum number of restarts of a unit whose connection was lost before its commit was sent. */
const MAX_CONNECTIONS_LOST = 3;
/**
 * Maximum number of units that share a commit (the log has room for the events of as many), and of such commits in
 * flight.
 */
const MAX_BATCHED = 64;
const MAX_SHARED = 2;

interface Waiting {
  readonly unit: UnitOfWork<unknown>;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

type Ended = { transaction: PostgresTransaction } & ({ result: unknown } | { error: unknown });

/** Runs units of work on the pool's connections (see WriteOptions), and repeats those that conflicted with others. */
export class TransactionRunner {
  readonly #pool: ConnectionPool;
  readonly #committed: (topics: ReadonlySet<Topic>) => void;
  readonly #log: Log | undefined;
  readonly #running = new Set<Promise<unknown>>();
  readonly #retries: RetryQueue;
  #batched: Waiting[] = [];
  #shared = 0;
  #planned = false;
  #closed = false;

  /** A unit that has conflicted waits at most `timeoutMs` for its turn. */
  constructor(
    pool: ConnectionPool,
    committed: (topics: ReadonlySet<Topic>) => void,
    { timeoutMs, log }: { timeoutMs: number; log: Log | undefined },
  ) {
    this.#pool = pool;
    this.#committed = committed;
    this.#retries = new RetryQueue(timeoutMs);
    this.#log = log;
  }

  write<Result>(unit: UnitOfWork<Result>, { isolation = "serialized" }: WriteOptions): Promise<Result> {
    if (this.#closed)
      return Promise.reject(new StorageUnavailableError("Storage is unavailable: the database is closed."));
    const written = isolation === "batched" ? this.#share(unit) : this.#untilDone(unit, isolation);
    const settled: Promise<unknown> = written.then(
      () => this.#running.delete(settled),
      () => this.#running.delete(settled),
    );
    this.#running.add(settled);
    return written;
  }

  /** Accepts no more units. Resolves when submitted ones are settled. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#running);
  }

  async #untilDone<Result>(unit: UnitOfWork<Result>, isolation: "serialized" | "read committed"): Promise<Result> {
    try {
      return await this.#run(unit, isolation);
    } catch (error) {
      if (!isConflict(error)) throw error;
      return this.#retries.run(() => this.#retry(unit, isolation, error));
    }
  }

  async #retry<Result>(unit: UnitOfWork<Result>, isolation: "serialized" | "read committed", first: unknown) {
    let isSame = true;
    for (let conflicts = 2; ; conflicts++) {
      try {
        return await this.#run(unit, isolation);
      } catch (error) {
        if (!isConflict(error)) throw error;
        isSame &&= isSameViolation(first, error);
        if (conflicts < MAX_CONFLICTS) continue;
        // If the same key conflicts in each run, no concurrent unit took it: this unit fails to check for it.
        if (isSame) throw error;
        this.#log?.warn({ err: error }, `a write conflicted with others ${MAX_CONFLICTS} times and was canceled`);
        throw new StorageUnavailableError("Storage is unavailable: too many writes conflict.", { cause: error });
      }
    }
  }

  /** Runs a unit in a transaction of its own, on another connection if one is lost on the way. */
  async #run<Result>(unit: UnitOfWork<Result>, isolation: "serialized" | "read committed"): Promise<Result> {
    for (let lost = 1; ; lost++) {
      const connection = await this.#pool.take();
      const beginning = new Beginning(connection, BEGIN[isolation]);
      const transaction = new PostgresTransaction(connection, beginning);
      const ended = await endOf(unit, transaction);
      const cause = transaction.failure ?? ("error" in ended ? ended.error : undefined);
      try {
        if (cause === undefined && !("error" in ended)) {
          await commit(connection, beginning);
          if (transaction.topics.size > 0) this.#committed(transaction.topics);
          return ended.result as Result;
        }
        await rollBack(connection, beginning);
      } finally {
        this.#pool.release(connection);
      }
      if (!connection.isOpen && cause instanceof StorageUnavailableError && lost < MAX_CONNECTIONS_LOST) continue;
      // A unit's own error says more than the statement's that caused it, but only the latter tells whether to run
      // again.
      if (isConflict(cause) || !("error" in ended)) throw cause;
      throw cause instanceof StorageUnavailableError ? cause : ended.error;
    }
  }

  #share<Result>(unit: UnitOfWork<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#batched.push({ unit, resolve: resolve as (result: unknown) => void, reject });
      this.#planShared();
    });
  }

  /**
   * Units submitted in one turn of the event loop share a commit, as do those submitted while enough commits are in
   * flight.
   */
  #planShared(): void {
    if (this.#planned || this.#shared >= MAX_SHARED || this.#batched.length === 0) return;
    this.#planned = true;
    setImmediate(() => {
      this.#planned = false;
      this.#shared += 1;
      const batch = this.#batched.splice(0, MAX_BATCHED);
      void this.#runShared(batch).finally(() => {
        this.#shared -= 1;
        this.#planShared();
      });
      this.#planShared();
    });
  }

  /** If one of them has changed rows and fails, all of them are run alone instead. */
  async #runShared(batch: readonly Waiting[]): Promise<void> {
    const [first] = batch;
    if (first === undefined) return;
    if (batch.length > 1 && (await this.#commitShared(batch))) return;
    await Promise.all(
      batch.map(({ unit, resolve, reject }) => this.#untilDone(unit, "serialized").then(resolve, reject)),
    );
  }

  async #commitShared(batch: readonly Waiting[]): Promise<boolean> {
    let connection: PostgresConnection;
    try {
      connection = await this.#pool.take();
    } catch (error) {
      for (const { reject } of batch) reject(error);
      return true;
    }
    const beginning = new Beginning(connection, BEGIN.batched);
    const sharedRows: SharedRows = new Map();
    try {
      const all = await Promise.all(
        batch.map(({ unit }) => endOf(unit, new PostgresTransaction(connection, beginning, sharedRows))),
      );
      const unavailable = all.find(({ transaction }) => transaction.failure instanceof StorageUnavailableError);
      const failed = (ended: Ended) => "error" in ended && ended.transaction.changed;
      if (all.some((ended) => ended.transaction.failure !== undefined || failed(ended))) {
        await rollBack(connection, beginning);
        if (unavailable === undefined || !connection.isOpen) return false;
        // All have waited for as long as allowed. Alone, each would wait once more.
        for (const { reject } of batch) reject(unavailable.transaction.failure);
        return true;
      }
      await commit(connection, beginning);
      const topics = new Set<Topic>();
      for (const [index, ended] of all.entries()) {
        if ("error" in ended) batch[index]?.reject(ended.error);
        else {
          for (const topic of ended.transaction.topics) topics.add(topic);
          batch[index]?.resolve(ended.result);
        }
      }
      if (topics.size > 0) this.#committed(topics);
    } catch (error) {
      if (isConflict(error)) return false;
      for (const { reject } of batch) reject(error);
    } finally {
      this.#pool.release(connection);
    }
    return true;
  }
}

async function endOf(unit: UnitOfWork<unknown>, transaction: PostgresTransaction): Promise<Ended> {
  try {
    return { result: await unit(transaction), transaction };
  } catch (error) {
    return { error, transaction };
  } finally {
    transaction.end();
  }
}

/** Rejects with a StorageUnavailableError that is `uncertain` if the connection was lost meanwhile. */
async function commit(connection: PostgresConnection, beginning: Beginning): Promise<void> {
  if (!beginning.sent) return;
  const committed = connection.execute("COMMIT").catch((error: unknown) => {
    if (!(error instanceof StorageUnavailableError) || connection.isOpen) throw error;
    const message = "Storage is unavailable: the connection was lost during the commit.";
    throw new StorageUnavailableError(message, { cause: error, uncertain: true });
  });
  const [failure, { command }] = await Promise.all([beginning.failure(), committed]);
  if (command === "COMMIT" && failure === undefined) return;
  throw failure ?? new Error("The transaction was rolled back: one of its statements had failed.");
}

async function rollBack(connection: PostgresConnection, beginning: Beginning): Promise<void> {
  if (!beginning.sent || !connection.isOpen) return;
  // If even that fails, the connection must not be used again. The server rolls back automatically.
  await connection.execute("ROLLBACK").catch(() => connection.destroy());
}

/** Runs units that have conflicted one at a time, in order, so that they do not conflict with each other again. */
class RetryQueue {
  readonly #timeoutMs: number;
  readonly #waiting: (() => void)[] = [];
  #isBusy = false;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /** Rejects with StorageUnavailableError if its turn does not come in time. */
  async run<Result>(retry: () => Promise<Result>): Promise<Result> {
    if (this.#isBusy) await this.#turn();
    this.#isBusy = true;
    try {
      return await retry();
    } finally {
      this.#isBusy = false;
      this.#waiting.shift()?.();
    }
  }

  #turn(): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(start), 1);
        reject(new StorageUnavailableError("Storage is unavailable: too many writes conflict."));
      }, this.#timeoutMs).unref();
      const start = () => {
        clearTimeout(timer);
        // A new one would otherwise take its turn before it runs.
        this.#isBusy = true;
        resolve();
      };
      this.#waiting.push(start);
    });
  }
}
