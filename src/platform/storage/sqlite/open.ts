import type { Log } from "../../ports.ts";
import { assertLogBelongs, CommitStamps, type LogContents } from "./commit-stamps.ts";
import { Connection, waitForLock } from "./connection.ts";
import { assertLocalFileSystem, assertOneName, closeToOthers, createFile, locateFile } from "./database-file.ts";
import {
  type Database,
  type DatabaseReader,
  type Queries,
  queriesBy,
  type SqlValue,
  StorageOpenError,
  StorageUnavailableError,
  Subscriptions,
  type Topic,
  type UnitOfWork,
} from "../database.ts";
import { type FileCheck, FileHealth } from "./file-health.ts";
import { FileLock } from "./file-lock.ts";
import { FileWatch, LOG_SIZE_LIMIT } from "./file-watch.ts";
import { GroupCommit } from "./group-commit.ts";
import { migrateSqlite, planSqliteUpgrade } from "../migrate.ts";
import type { Migration } from "../migrations/migration.ts";
import { asOpenError } from "./errors.ts";
import { loadSqlite, type SqliteRuntime } from "./runtime.ts";
import { Turns } from "../large-reads.ts";
import { existsSync } from "node:fs";
import { MIGRATIONS } from "../migrations/index.ts";

// fullfsync: on macOS a plain fsync leaves the data in the drive's own cache.
const WRITER_SETTINGS = `
  PRAGMA busy_timeout = 5000;
  PRAGMA trusted_schema = OFF;
  PRAGMA foreign_keys = ON;
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA fullfsync = ON;
  PRAGMA journal_size_limit = ${LOG_SIZE_LIMIT};
`;
const READER_SETTINGS = "PRAGMA busy_timeout = 5000; PRAGMA trusted_schema = OFF";
/** Waiting inside SQLite blocks the event loop, which only the start and the end may do. */
const STOP_BLOCKING = "PRAGMA busy_timeout = 0";
const LOCK_MILLISECONDS = 5000;

export interface SqliteOptions {
  /** The database file; a missing folder is created. Its `-wal`, `-shm` and `.lock` files are next to it. */
  readonly file: string;
  /** In the order in which they run. */
  readonly migrations: readonly Migration[];
  /** This program's version, recorded with each migration, so that an older program can say which one it lacks. */
  readonly version?: string;
  readonly log?: Log;
  /** How long a statement waits for another program's lock (default: 5000). */
  readonly lockMilliseconds?: number;
  /** Runs after a start that found the log of a killed process, and if the file may be damaged. */
  readonly check?: FileCheck | undefined;
  /** The folder of the installed driver, for a Node.js without SQLite. */
  readonly driver?: string | undefined;
}

/**
 * Opens a database file for this process alone, migrates its schema, and holds it until `close`.
 *
 * Throws StorageOpenError if another process holds it ("locked"), if its schema is newer than this program
 * ("newer_schema") or from an unreleased build ("unreleased_schema"), if the file is something else ("not_a_database") or cannot be written ("not_writable"), and if this
 * Node.js has no SQLite ("driver_missing").
 */
export async function openSqlite(options: SqliteOptions): Promise<Database> {
  const sqlite = await loadSqlite(options.driver);
  try {
    const file = locateFile(options.file);
    assertLocalFileSystem(file);
    const lock = new FileLock(sqlite, file, process.pid);
    try {
      return openLocked(sqlite, file, lock, options);
    } catch (error) {
      lock.release();
      throw error;
    }
  } catch (error) {
    throw asOpenError(error, options.file);
  }
}

function openLocked(sqlite: SqliteRuntime, file: string, lock: FileLock, options: SqliteOptions): Database {
  assertOneName(file);
  const left = assertLogBelongs(file);
  createFile(file);
  const writer = new Connection(sqlite, file);
  try {
    writer.exec(READER_SETTINGS);
    // A file that is rejected stays as it is, its mode and journal included.
    const upgrade = planSqliteUpgrade(writer, file, options.migrations);
    closeToOthers(file);
    // Only a new file takes it, and each other would be written to in a commit without a number.
    if (writer.get("PRAGMA page_count")?.["page_count"] === 0) writer.exec("PRAGMA auto_vacuum = INCREMENTAL");
    writer.exec(WRITER_SETTINGS);
    migrateSqlite(writer, upgrade, options.version ?? null);
    const openReader = () => {
      const reader = new Connection(sqlite, file, { readOnly: true });
      reader.exec(`${READER_SETTINGS}; ${STOP_BLOCKING}`);
      return reader;
    };
    const reader = openReader();
    writer.exec(STOP_BLOCKING);
    return new SqliteStorage(file, { writer, reader, openReader, lock }, left, options);
  } catch (error) {
    // Also rolls back an unfinished migration.
    writer.close();
    throw error;
  }
}

class SqliteStorage implements Database {
  readonly dialect = "sqlite";
  readonly #writer: Connection;
  readonly #reader: Connection;
  readonly #openReader: () => Connection;
  /** Reads one state at a time. */
  #stateReader: Connection | undefined;
  readonly #stateTurns = new Turns();
  readonly #lock: FileLock;
  readonly #commits: GroupCommit;
  readonly #watch: FileWatch;
  readonly #health: FileHealth;
  readonly #subscriptions: Subscriptions;
  readonly #log: Log | undefined;
  readonly #lockMilliseconds: number;
  #closing: Promise<void> | undefined;
  #closed = false;

  constructor(
    file: string,
    resources: { writer: Connection; reader: Connection; openReader: () => Connection; lock: FileLock },
    left: LogContents,
    { log, lockMilliseconds = LOCK_MILLISECONDS, check }: SqliteOptions,
  ) {
    this.#writer = resources.writer;
    this.#reader = resources.reader;
    this.#openReader = resources.openReader;
    this.#lock = resources.lock;
    this.#log = log;
    this.#lockMilliseconds = lockMilliseconds;
    this.#subscriptions = new Subscriptions(log);
    const stamps = new CommitStamps(resources.writer, left.stamps);
    this.#watch = new FileWatch(file, stamps, () => this.#health.check());
    this.#commits = new GroupCommit(resources.writer, {
      file,
      lockMilliseconds,
      prepare: () => {
        this.#health.assertFiles();
        // An empty commit would not touch the disk, so it would not show whether the disk accepts writes again.
        stamps.stamp(this.#commits.failure !== undefined);
      },
      committed: (topics) => {
        stamps.committed();
        this.#subscriptions.notify(topics);
      },
      log,
    });
    this.#health = new FileHealth({
      file,
      inspect: () => {
        resources.lock.verify();
        this.#watch.inspect();
      },
      writeFailure: () => this.#commits.failure,
      tryCommit: () => this.write(async () => {}),
      check,
      log,
    });
    if (left.frames > 0) this.#health.checkAfterStart();
  }

  async get<Row>(sql: string, parameters?: readonly SqlValue[]): Promise<Row | undefined> {
    return (await this.#read(() => this.#reader.get(sql, parameters))) as Row | undefined;
  }

  async all<Row>(sql: string, parameters?: readonly SqlValue[]): Promise<Row[]> {
    return (await this.#read(() => this.#reader.all(sql, parameters))) as Row[];
  }

  allShared<Row>(sql: string, parameters?: readonly SqlValue[]): Promise<readonly Row[]> {
    return this.all(sql, parameters);
  }

  write<Result>(unit: UnitOfWork<Result>): Promise<Result> {
    return this.#commits.write(unit);
  }

  readOneState<Result>(read: (queries: Queries) => Promise<Result>): Promise<Result> {
    return this.#stateTurns.run(async () => {
      this.#assertOpen();
      const connection = (this.#stateReader ??= this.#openReader());
      connection.exec("BEGIN");
      try {
        return await read(
          queriesBy(this.dialect, (sql, parameters) => this.#read(() => connection.all(sql, parameters))),
        );
      } finally {
        connection.rollBack();
      }
    });
  }

  subscribe(topic: Topic, callback: () => void): () => void {
    return this.#subscriptions.add(topic, callback);
  }

  async probe(): Promise<void> {
    this.#assertOpen();
    this.#health.assertUsable();
    await this.get("SELECT number FROM schema_migrations LIMIT 1");
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await Promise.all([this.#commits.close(), this.#health.close()]);
    this.#closed = true;
    if (this.#isIntact()) this.#closeFiles();
    this.#lock.release();
  }

  /** Returns false if the log must not be written into the file. Closing the file would do that. */
  #isIntact(): boolean {
    try {
      this.#watch.inspect();
      return true;
    } catch (error) {
      this.#log?.error({ err: error }, "the database's log was not changed");
      return false;
    }
  }

  #closeFiles(): void {
    this.#reader.close();
    this.#stateReader?.close();
    try {
      this.#writer.exec(`PRAGMA busy_timeout = ${LOCK_MILLISECONDS}; PRAGMA wal_checkpoint(TRUNCATE)`);
    } catch (error) {
      // Nothing is lost: the next start reads the log.
      this.#log?.warn({ err: error }, "the database's log could not be written back");
    }
    this.#writer.close();
    this.#watch.close();
  }

  async #read<Result>(read: () => Result): Promise<Result> {
    const attempt = () => {
      this.#assertOpen();
      return read();
    };
    try {
      return await waitForLock(attempt, this.#lockMilliseconds);
    } catch (error) {
      if (error instanceof StorageUnavailableError && !this.#closed) this.#health.readFailed(error);
      throw error;
    }
  }

  #assertOpen(): void {
    if (this.#closed) throw new StorageUnavailableError("Storage is unavailable: the database is closed.");
  }
}

/**
 * Opens a database file for reading, even while a platform serves it. Creates and changes nothing. Throws
 * StorageOpenError: "missing", "log_mismatch", "not_a_database" if it is not a platform's, and as `planUpgrade`.
 */
export async function openSqliteReader(file: string, driver?: string): Promise<DatabaseReader> {
  if (!existsSync(file)) throw new StorageOpenError("missing", `${file} does not exist`);
  const sqlite = await loadSqlite(driver);
  try {
    assertLogBelongs(file);
    const connection = new Connection(sqlite, file, { readOnly: true });
    try {
      connection.exec(READER_SETTINGS);
      if (connection.get("SELECT name FROM sqlite_schema WHERE name = 'schema_migrations'") === undefined)
        throw new StorageOpenError("not_a_database", `${file} is not a database of the platform. Pass another file.`);
      planSqliteUpgrade(connection, file, MIGRATIONS);
    } catch (error) {
      connection.close();
      throw error;
    }
    return {
      ...queriesBy("sqlite", async (sql, parameters) => connection.all(sql, parameters)),
      close: async () => connection.close(),
    };
  } catch (error) {
    throw asOpenError(error, file);
  }
}
