import { clearImmediate, setImmediate } from "node:timers";
import type { Log } from "../../ports.ts";
import { type Connection, waitForLock } from "./connection.ts";
import { type SqlValue, StorageUnavailableError, type Topic, type Transaction, type UnitOfWork } from "../database.ts";
import { isFull } from "./errors.ts";

/** Maximum number of units of work and of statements in a commit: about 10 ms of work. */
const MAX_UNITS = 256;
const MAX_STATEMENTS = 2048;

interface Waiting {
  readonly unit: UnitOfWork<unknown>;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** The result of the unit itself; undefined if it could not run to its end. */
  outcome?: { result: unknown } | { error: unknown } | undefined;
  /** True if the unit could read changes of earlier units, which a failed commit undoes. */
  sawUncommitted?: boolean;
}

export interface GroupCommitOptions {
  /** The database, for the log. */
  file: string;
  /** How long a batch waits for another program's write lock. */
  lockMilliseconds: number;
  /**
   * Called in each transaction before its commit. Throws StorageUnavailableError if the commit would not be durable.
   */
  prepare(): void;
  /** Called after each commit with its topics, once its units have resolved. */
  committed(topics: ReadonlySet<Topic>): void;
  log: Log | undefined;
}

/**
 * The only writer. Each commit waits for the disk, whatever its size, so units of work share commits: those submitted
 * during one turn of the event loop (for example every request that arrived during the last commit) run one after
 * another at the turn's end, each in a savepoint, and are committed together. A unit does not wait for others to
 * arrive: a single unit is committed alone.
 *
 * Statements are synchronous here, so a batch begins and ends within one turn. A unit that awaits anything else would
 * delay all others, forever if it awaits a write of its own: it is rolled back and rejects.
 */
export class GroupCommit {
  readonly #connection: Connection;
  readonly #options: GroupCommitOptions;
  #queue: Waiting[] = [];
  #working: Promise<void> | undefined;
  #closed = false;
  #failure: StorageUnavailableError | undefined;
  #abandonUnit: (() => void) | undefined;

  constructor(connection: Connection, options: GroupCommitOptions) {
    this.#connection = connection;
    this.#options = options;
  }

  write<Result>(unit: UnitOfWork<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (this.#closed) throw new StorageUnavailableError("Storage is unavailable: the database is closed.");
      this.#queue.push({ unit, resolve: resolve as (result: unknown) => void, reject });
      this.#working ??= this.#work();
    });
  }

  /** Why the last commit failed; undefined if it succeeded. */
  get failure(): StorageUnavailableError | undefined {
    return this.#failure;
  }

  /** Accepts no more units. Resolves when submitted ones have settled. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#working;
  }

  async #work(): Promise<void> {
    while (this.#queue.length > 0) {
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
      await this.#commitBatch();
    }
    this.#working = undefined;
  }

  async #commitBatch(): Promise<void> {
    try {
      await waitForLock(() => this.#connection.run("BEGIN IMMEDIATE"), this.#options.lockMilliseconds);
    } catch (error) {
      // It may have waited for seconds. Units that arrived meanwhile do not wait as long again.
      const waiting = this.#queue;
      this.#queue = [];
      this.#settle(waiting, this.#failed(error));
      return;
    }

    const batch = this.#queue.splice(0, MAX_UNITS);
    const topics = new Set<Topic>();
    const stopWatching = this.#abandonUnitAtEndOfTurn();
    let ran = 0;
    let statements = 0;
    let hasChanges = false;
    let failure: StorageUnavailableError | undefined;
    try {
      for (const waiting of batch) {
        if (statements >= MAX_STATEMENTS) break;
        ran += 1;
        waiting.sawUncommitted = hasChanges;
        const transaction = new UnitTransaction(this.#connection);
        await this.#runUnit(waiting, transaction);
        statements += transaction.statements;
        if (waiting.outcome !== undefined && "result" in waiting.outcome) {
          hasChanges = true;
          for (const topic of transaction.topics) topics.add(topic);
        }
      }
      this.#options.prepare();
      this.#commit();
      this.#succeeded();
    } catch (error) {
      failure = this.#failed(error);
      this.#connection.rollBack();
    }
    stopWatching();
    this.#queue.unshift(...batch.splice(ran));
    this.#settle(batch, failure);
    if (failure === undefined) this.#options.committed(topics);
  }

  /**
   * Throws an `uncertain` error if all of the commit may be in the log although the disk failed: then the next start
   * would find it there. A full disk holds less than all of it.
   */
  #commit(): void {
    try {
      this.#connection.run("COMMIT");
    } catch (error) {
      if (!(error instanceof StorageUnavailableError) || isFull(error)) throw error;
      throw new StorageUnavailableError(error.message, { cause: error.cause, uncertain: true });
    }
  }

  /** Throws if not the unit but the transaction around it failed. */
  async #runUnit(waiting: Waiting, transaction: UnitTransaction): Promise<void> {
    this.#connection.run("SAVEPOINT unit");
    try {
      waiting.outcome = { result: await this.#endOf(waiting.unit, transaction) };
    } catch (error) {
      waiting.outcome = { error };
    }
    transaction.end();
    if (transaction.failure !== undefined) {
      waiting.outcome = undefined;
      throw transaction.failure;
    }
    if ("error" in waiting.outcome) this.#connection.run("ROLLBACK TO unit");
    this.#connection.run("RELEASE unit");
  }

  #endOf(unit: UnitOfWork<unknown>, transaction: Transaction): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#abandonUnit = () => {
        reject(new Error("A unit awaited something other than its transaction's statements; it was rolled back."));
      };
      unit(transaction).then(resolve, reject);
    });
  }

  #abandonUnitAtEndOfTurn(): () => void {
    const watch = () => {
      this.#abandonUnit?.();
      next = setImmediate(watch);
    };
    let next = setImmediate(watch);
    return () => clearImmediate(next);
  }

  #settle(batch: readonly Waiting[], failure: StorageUnavailableError | undefined): void {
    for (const { outcome, sawUncommitted = false, resolve, reject } of batch) {
      const isOwnError = outcome !== undefined && "error" in outcome;
      // The error may be due to changes that were undone, such as an email address that is no longer taken.
      if (failure !== undefined && (!isOwnError || sawUncommitted)) reject(failure);
      else if (isOwnError) reject(outcome.error);
      else resolve(outcome?.result);
    }
  }

  #succeeded(): void {
    if (this.#failure !== undefined) this.#options.log?.info({}, "the database accepts writes again");
    this.#failure = undefined;
  }

  /** Logs only the first of consecutive failures. */
  #failed(error: unknown): StorageUnavailableError {
    if (this.#failure === undefined) {
      this.#options.log?.error({ err: error, database: this.#options.file }, "the database rejects writes");
    }
    this.#failure =
      error instanceof StorageUnavailableError
        ? error
        : new StorageUnavailableError("Storage is unavailable: the commit failed.", { cause: error });
    return this.#failure;
  }
}

/** One unit of work's view of the writer's connection, from its savepoint to its end. */
class UnitTransaction implements Transaction {
  readonly dialect = "sqlite";
  readonly isShared = true;
  readonly #connection: Connection;
  readonly topics = new Set<Topic>();
  /** Number of statements that the unit ran. */
  statements = 0;
  /** A disk failure in a statement, whether or not the unit caught the error. */
  failure: StorageUnavailableError | undefined;
  #ended = false;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  async get<Row>(sql: string, parameters?: readonly SqlValue[]): Promise<Row | undefined> {
    return this.#execute(() => this.#connection.get(sql, parameters)) as Row | undefined;
  }

  async all<Row>(sql: string, parameters?: readonly SqlValue[]): Promise<Row[]> {
    return this.#execute(() => this.#connection.all(sql, parameters)) as Row[];
  }

  allShared<Row>(sql: string, parameters?: readonly SqlValue[]): Promise<readonly Row[]> {
    return this.all(sql, parameters);
  }

  async run(sql: string, parameters?: readonly SqlValue[]): Promise<number> {
    return this.#execute(() => this.#connection.run(sql, parameters));
  }

  notify(topic: Topic): void {
    this.topics.add(topic);
  }

  /** Units run one at a time here. */
  async claim(): Promise<boolean> {
    return true;
  }

  /** Units run one at a time here. */
  async lock(): Promise<void> {}

  /** From now on its statements are rejected: they would run inside another unit, or outside any transaction. */
  end(): void {
    this.#ended = true;
  }

  #execute<Result>(statement: () => Result): Result {
    if (this.#ended) throw new Error("This transaction has ended: a unit must await each of its statements.");
    // SQLite may have rolled everything back: a further statement would be committed alone.
    if (this.failure !== undefined) throw this.failure;
    this.statements += 1;
    try {
      return statement();
    } catch (error) {
      if (error instanceof StorageUnavailableError) this.failure = error;
      throw error;
    }
  }
}
