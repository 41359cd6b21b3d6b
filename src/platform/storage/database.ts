/** The storage port: what the platform asks of a database. Two drivers stand behind it, one conformance suite checks both. */

/** What a column holds: text, a number within ±2^53, bytes, or nothing. Booleans are stored as 0 and 1. */
export type SqlValue = string | number | null | Uint8Array;

/**
 * Statements are written once, in the dialect that the drivers share, with `$1`, `$2` … for parameters (a number may
 * repeat). Rows come back as plain objects by column name.
 */
export interface Queries {
  readonly dialect: "sqlite" | "postgres";
  /** The first row, or undefined. */
  get<Row>(sql: string, parameters?: readonly SqlValue[]): Promise<Row | undefined>;
  /** Every row. */
  all<Row>(sql: string, parameters?: readonly SqlValue[]): Promise<Row[]>;
  /**
   * As `all`, for rows that no unit changes which is written `batched` others: units that share a transaction share the
   * answer, so its rows are for reading only.
   */
  allShared<Row>(sql: string, parameters?: readonly SqlValue[]): Promise<readonly Row[]>;
}

/** A database that is only looked at. */
export interface DatabaseReader extends Queries {
  close(): Promise<void>;
}

export interface Transaction extends Queries {
  /** Runs a statement that changes rows; returns how many it changed. */
  run(sql: string, parameters?: readonly SqlValue[]): Promise<number>;
  /** After the commit, notifies the subscribers of this topic (at most once a commit). Nothing is sent on a rollback. */
  notify(topic: Topic): void;
  /**
   * True for one transaction at a time, in whatever process, until it ends; the others are told at once. Units of one
   * process that are written beside each other all get it.
   */
  claim(name: string): Promise<boolean>;
  /**
   * Waits for a lock on a name, and holds it until the transaction ends. Any number of transactions hold it shared, or one
   * holds it exclusively. Who asks is served in turn, so that a steady stream of shared holders cannot keep others out.
   */
  lock(name: string, mode: "shared" | "exclusive"): Promise<void>;
}

/** How a unit stands to others that run at the same time, in this process or another. */
export interface WriteOptions {
  /**
   * - `serialized` (the default): the unit sees one state of the database. Where another changed a row first that this one
   *   changes too, the unit is run again on what is there now: so it may run several times before its changes count.
   * - `batched`: for a unit that only adds rows and whose reads do not depend on what such units add. It shares its
   *   commit, and the way to the database, with others of its kind. It may run several times too.
   * - `read committed`: each statement sees what is committed when it begins: for taking rows that others are taking as well.
   */
  readonly isolation?: "serialized" | "batched" | "read committed";
}

/** What a process may wait for: new events in the log, deliveries that may be due. */
export type Topic = "events" | "deliveries";

export type Unit<Result> = (transaction: Transaction) => Promise<Result>;

export interface Database extends Queries {
  /**
   * Runs a unit in one transaction; resolves with what the unit returned once the commit is durable. A unit that throws
   * is rolled back alone and rejects with its own error; units committed together with it are not touched. A unit awaits
   * its transaction's statements and nothing else: others wait for it.
   *
   * Rejects with StorageUnavailableError where the commit could not be made durable (disk full, database gone): then
   * nothing of the unit is there, unless the error is marked as `uncertain`.
   */
  write<Result>(unit: Unit<Result>, options?: WriteOptions): Promise<Result>;

  /** Calls back after commits that notified the topic, in this process or another. Returns how to stop. May call spuriously. */
  subscribe(topic: Topic, callback: () => void): () => void;

  /**
   * Finds out whether the database can be worked with now: reads a row of it, and looks whether writes fail. Rejects with
   * StorageUnavailableError where it cannot.
   */
  probe(): Promise<void>;

  /** Finishes the writes that were handed in, then closes. Calling it again is harmless. */
  close(): Promise<void>;
}

/** The database cannot take the write (or read) now; the process lives on and recovers when the cause is gone. */
export class StorageUnavailableError extends Error {
  override name = "StorageUnavailableError";
  /** True where the connection was lost while the database was committing: the change may be there or not. */
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
    | "incomplete"
    | "locked"
    | "log_mismatch"
    | "hard_linked"
    | "newer_schema"
    | "not_a_database"
    | "not_writable"
    | "unreachable"
    | "unsupported"
    | "missing";

  constructor(code: StorageOpenError["code"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
