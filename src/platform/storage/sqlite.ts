import type { Log } from "../ports.ts";
import { assertLogBelongs, CommitStamps } from "./commit-stamps.ts";
import { Connection, outwaitLock } from "./connection.ts";
import { closeToOthers, locateFile, makeFile, refuseNetworkFileSystem, watchFiles } from "./database-file.ts";
import { type Database, type Hold, type SqlValue, StorageUnavailableError, type Topic, type Unit } from "./database.ts";
import { FileLock } from "./file-lock.ts";
import { GroupCommit } from "./group-commit.ts";
import { migrateSqlite, refuseForeignDatabase } from "./migrate.ts";
import type { Migration } from "./migrations/migration.ts";
import { asOpenError } from "./sqlite-errors.ts";
import { type SqliteRuntime, loadSqlite } from "./sqlite-runtime.ts";
import { Subscriptions } from "./subscriptions.ts";

// fullfsync: on macOS a plain fsync leaves the data in the drive's own memory.
const WRITER_SETTINGS = `
  PRAGMA busy_timeout = 5000;
  PRAGMA trusted_schema = OFF;
  PRAGMA foreign_keys = ON;
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA fullfsync = ON;
  PRAGMA journal_size_limit = ${64 * 1024 * 1024};
`;
const READER_SETTINGS = "PRAGMA busy_timeout = 5000; PRAGMA trusted_schema = OFF";
/** Waiting inside SQLite blocks the event loop, which only the start and the end may do. */
const STOP_BLOCKING = "PRAGMA busy_timeout = 0";
const LOCK_MILLISECONDS = 5000;

export interface SqliteOptions {
  /** The database file; a missing folder is made. Its `-wal`, `-shm` and `.lock` files lie beside it. */
  readonly file: string;
  /** In the order in which they run. */
  readonly migrations: readonly Migration[];
  /** This program's version, recorded with each migration, so that an older program can say which one it lacks. */
  readonly version?: string;
  readonly log?: Log;
  /** How long a statement waits for another program's lock (default: 5000). */
  readonly lockMilliseconds?: number;
}

/**
 * Opens a database file for this process alone, brings its schema up to date, and holds it until `close`.
 *
 * Throws StorageOpenError where another process holds it ("locked"), where its schema is newer than this program
 * ("newer_schema"), where the file is something else ("not_a_database") or cannot be written ("not_writable"), and where
 * this Node.js has no SQLite ("unreachable").
 */
export async function openSqlite(options: SqliteOptions): Promise<Database> {
  const sqlite = await loadSqlite();
  try {
    const file = locateFile(options.file);
    refuseNetworkFileSystem(file);
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
  assertLogBelongs(file);
  makeFile(file);
  const writer = new Connection(sqlite, file);
  try {
    writer.exec(READER_SETTINGS);
    // What is somebody else's is left as it is, its mode and its journal too.
    refuseForeignDatabase(writer, file);
    closeToOthers(file);
    writer.exec(WRITER_SETTINGS);
    migrateSqlite(writer, options.migrations, options.version ?? null);
    const reader = new Connection(sqlite, file, { readOnly: true });
    reader.exec(READER_SETTINGS);
    for (const connection of [writer, reader]) connection.exec(STOP_BLOCKING);
    return new SqliteStorage(file, { writer, reader, lock }, options);
  } catch (error) {
    // Rolls an unfinished migration back too.
    writer.close();
    throw error;
  }
}

class SqliteStorage implements Database {
  readonly dialect = "sqlite";
  readonly #writer: Connection;
  readonly #reader: Connection;
  readonly #lock: FileLock;
  readonly #commits: GroupCommit;
  readonly #subscriptions: Subscriptions;
  readonly #log: Log | undefined;
  readonly #lockMilliseconds: number;
  /** No other process can hold any. */
  readonly #held = new Set<string>();
  #closing: Promise<void> | undefined;
  #closed = false;

  constructor(
    file: string,
    held: { writer: Connection; reader: Connection; lock: FileLock },
    { log, lockMilliseconds = LOCK_MILLISECONDS }: SqliteOptions,
  ) {
    this.#writer = held.writer;
    this.#reader = held.reader;
    this.#lock = held.lock;
    this.#log = log;
    this.#lockMilliseconds = lockMilliseconds;
    this.#subscriptions = new Subscriptions(log);
    const verifyFiles = watchFiles(file);
    const stamps = new CommitStamps(held.writer);
    this.#commits = new GroupCommit(held.writer, {
      lockMilliseconds,
      prepare() {
        held.lock.verify();
        verifyFiles();
        stamps.stamp();
      },
      committed: (topics) => this.#subscriptions.wake(topics),
      log,
    });
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

  write<Result>(unit: Unit<Result>): Promise<Result> {
    return this.#commits.write(unit);
  }

  async hold(name: string): Promise<Hold | undefined> {
    this.#assertOpen();
    if (this.#held.has(name)) return undefined;
    this.#held.add(name);
    return { release: async () => void this.#held.delete(name) };
  }

  onWake(topic: Topic, callback: () => void): () => void {
    return this.#subscriptions.add(topic, callback);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#commits.close();
    this.#closed = true;
    this.#reader.close();
    try {
      this.#writer.exec(`PRAGMA busy_timeout = ${LOCK_MILLISECONDS}; PRAGMA wal_checkpoint(TRUNCATE)`);
    } catch (error) {
      // Nothing is lost: the next start reads the log.
      this.#log?.warn({ err: error }, "the database's log could not be written back");
    }
    this.#writer.close();
    this.#lock.release();
  }

  #read<Result>(read: () => Result): Promise<Result> {
    return outwaitLock(() => {
      this.#assertOpen();
      return read();
    }, this.#lockMilliseconds);
  }

  #assertOpen(): void {
    if (this.#closed) throw new StorageUnavailableError("Storage is unavailable: the database is closed.");
  }
}
