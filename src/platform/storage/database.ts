import type { Log } from "../ports.ts";
import { parseUrl } from "../../network/parse-url.ts";

/**
 * The storage port: the database operations that the platform needs. It has two drivers, which one conformance suite
 * tests.
 */

/** A value of a column: text, a number within ±2^53, bytes, or null. Booleans are stored as 0 and 1. */
export type SqlValue = string | number | null | Uint8Array;

/**
 * Statements are written once, in the common dialect of the drivers, with `$1`, `$2` … for parameters (a number may
 * repeat). Rows are plain objects by column name.
 */
export interface Queries {
  readonly dialect: "sqlite" | "postgres";
  /** Returns the first row, or undefined. */
  get<Row>(sql: string, parameters?: readonly SqlValue[]): Promise<Row | undefined>;
  all<Row>(sql: string, parameters?: readonly SqlValue[]): Promise<Row[]>;
  /**
   * As `all`, for rows that no `batched` unit of work changes. Units that share a transaction share the result, so do
   * not modify the rows.
   */
  allShared<Row>(sql: string, parameters?: readonly SqlValue[]): Promise<readonly Row[]>;
}

/** A read-only database. */
export interface DatabaseReader extends Queries {
  close(): Promise<void>;
}

export interface Transaction extends Queries {
  /** True if other units of work run in the same transaction. */
  readonly isShared: boolean;
  /** Runs a statement that changes rows. Returns how many it changed. */
  run(sql: string, parameters?: readonly SqlValue[]): Promise<number>;
  /**
   * After the commit, notifies the subscribers of this topic (at most once a commit). Nothing is sent on a rollback.
   */
  notify(topic: Topic): void;
  /**
   * Resolves with true for one transaction at a time, in any process, until it ends. Others get false at once. Units of
   * one process that run in the same transaction all get it.
   */
  claim(name: string): Promise<boolean>;
  /**
   * Waits for a lock on a name, and holds it until the transaction ends. Either any number of transactions hold it
   * shared, or one holds it exclusively. Requests are served in order, so a steady stream of shared holders cannot
   * starve an exclusive one.
   */
  lock(name: string, mode: "shared" | "exclusive"): Promise<void>;
}

/** Returns the clause of a statement that locks rows, where several transactions run at once. */
export function locking({ dialect }: Pick<Queries, "dialect">, clause: string): string {
  return dialect === "postgres" ? clause : "";
}

/** Runs a statement that changes one row or none. Returns true if it changed one. */
export async function changesRow(tx: Transaction, sql: string, parameters: readonly SqlValue[]): Promise<boolean> {
  return (await tx.run(sql, parameters)) === 1;
}

/** Returns queries that all run by one function. */
export function queriesBy(
  dialect: Queries["dialect"],
  read: (sql: string, parameters?: readonly SqlValue[]) => Promise<unknown[]>,
): Queries {
  const all = async <Row>(sql: string, parameters?: readonly SqlValue[]) => (await read(sql, parameters)) as Row[];
  return {
    dialect,
    get: async <Row>(sql: string, parameters?: readonly SqlValue[]) => (await all<Row>(sql, parameters))[0],
    all,
    allShared: all,
  };
}

/** How a unit of work is isolated from concurrent ones, in this process or another. */
export interface WriteOptions {
  /**
   * - `serialized` (the default): the unit of work sees one state of the database. If another one first changed a row
   * that it changes too, it is run again on the new state, so it may run several times before its changes count.
   * - `batched`: for a unit of work that only adds rows and whose reads do not depend on what others of its kind add.
   * It shares its commit and round trips with them. It may run several times, too.
   * - `read committed`: each statement sees what is committed when it begins. For taking rows that others take too.
   */
  readonly isolation?: "serialized" | "batched" | "read committed";
}

/** Topics that a process can subscribe to: new events in the log, deliveries that may be due, resets of a sandbox. */
export type Topic = "events" | "deliveries" | "resets";

export type UnitOfWork<Result> = (transaction: Transaction) => Promise<Result>;

export interface Database extends Queries {
  /**
   * Runs a unit of work in one transaction. Resolves with its result once the commit is durable. One that throws is
   * rolled back alone and rejects with its own error; units that share its commit are unaffected. It must await nothing
   * but its transaction's statements, since others wait for it.
   *
   * Rejects with StorageUnavailableError if the commit could not be made durable (disk full, database down). Nothing of
   * the unit is then in the database, unless the error is marked as `uncertain`.
   */
  write<Result>(unit: UnitOfWork<Result>, options?: WriteOptions): Promise<Result>;

  /**
   * Reads one state of the database in several statements, between which the caller may await anything. What is
   * committed meanwhile is not visible to them. Call it rarely: it uses a connection of its own.
   */
  readOneState<Result>(read: (queries: Queries) => Promise<Result>): Promise<Result>;

  /**
   * Calls back after commits that notified the topic, in this process or another. Returns a function that unsubscribes.
   * May call spuriously.
   */
  subscribe(topic: Topic, callback: () => void): () => void;

  /**
   * Checks whether the database works now: reads a row of it, and checks whether writes fail. Rejects with
   * StorageUnavailableError if it does not.
   */
  probe(): Promise<void>;

  /** Finishes submitted writes, then closes. May be called again. */
  close(): Promise<void>;
}

/** The database cannot perform the write (or read) now. The process stays alive and recovers once the cause is gone. */
export class StorageUnavailableError extends Error {
  override name = "StorageUnavailableError";
  /** True if the database failed while it was committing: the change may or may not be there. */
  readonly uncertain: boolean;

  constructor(message: string, options: ErrorOptions & { uncertain?: boolean } = {}) {
    super(message, options);
    this.uncertain = options.uncertain ?? false;
  }
}

/** The database cannot be opened, for the reason that the code names. */
export class StorageOpenError extends Error {
  override name = "StorageOpenError";
  readonly code:
    | "driver_missing"
    | "incomplete"
    | "locked"
    | "log_mismatch"
    | "hard_linked"
    | "newer_schema"
    | "not_a_database"
    | "not_writable"
    | "unreachable"
    | "unreleased_schema"
    | "unsupported"
    | "missing";

  constructor(code: StorageOpenError["code"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The subscribers of each topic in this process. */
export class Subscriptions {
  readonly #callbacks: Record<Topic, Set<() => void>> = {
    events: new Set(),
    deliveries: new Set(),
    resets: new Set(),
  };
  readonly #log: Log | undefined;

  constructor(log: Log | undefined) {
    this.#log = log;
  }

  add(topic: Topic, callback: () => void): () => void {
    // Each call is a separate subscription, even with the same callback.
    const subscription = () => callback();
    this.#callbacks[topic].add(subscription);
    return () => this.#callbacks[topic].delete(subscription);
  }

  has(topic: Topic): boolean {
    return this.#callbacks[topic].size > 0;
  }

  /** Calls back after the current code has run. A callback that throws is logged and affects no other. */
  notify(topics: Iterable<Topic>): void {
    for (const topic of topics) {
      for (const callback of this.#callbacks[topic]) queueMicrotask(() => this.#call(topic, callback));
    }
  }

  #call(topic: Topic, callback: () => void): void {
    // It may have unsubscribed since.
    if (!this.#callbacks[topic].has(callback)) return;
    try {
      callback();
    } catch (error) {
      this.#log?.error({ topic, err: error }, "a callback for committed changes failed");
    }
  }
}

/**
 * Runs the part of a unit of work that concerns one row. Resolves with undefined, without running it, if it threw
 * before.
 */
export type PartOf = <Result>(row: string, part: () => Promise<Result>) => Promise<Result | undefined>;

/**
 * Writes a unit of work over many rows. If the part of one throws, the unit is rolled back and run again without that
 * part, so that a row that cannot be processed does not stop the others. `onBroken` is called for each such row.
 */
export async function writeRows<Result>(
  database: Database,
  unit: (tx: Transaction, partOf: PartOf) => Promise<Result>,
  { onBroken, ...options }: WriteOptions & { onBroken: (row: string, error: unknown) => void },
): Promise<Result> {
  const skipped = new Set<string>();
  for (;;) {
    let broken: string | undefined;
    const partOf: PartOf = async (row, part) => {
      if (skipped.has(row)) return undefined;
      try {
        return await part();
      } catch (error) {
        broken ??= row;
        throw error;
      }
    };
    try {
      return await database.write((tx) => {
        broken = undefined;
        return unit(tx, partOf);
      }, options);
    } catch (error) {
      if (broken === undefined || error instanceof StorageUnavailableError) throw error;
      onBroken(broken, error);
      skipped.add(broken);
    }
  }
}

/** Returns true if the text is the URL of a PostgreSQL database, not a file's path. */
export function isPostgresUrl(text: string): boolean {
  return /^postgres(ql)?:\/\//.test(text);
}

/** Returns the database for display: a URL without its password. */
export function describeDatabase(text: string): string {
  if (!isPostgresUrl(text)) return text;
  const url = parseUrl(text);
  if (url === undefined) return "the database's URL";
  if (url.password !== "") url.password = "***";
  url.searchParams.delete("password");
  return url.href;
}
