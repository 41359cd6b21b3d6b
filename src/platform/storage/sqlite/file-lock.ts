import { rmSync } from "node:fs";
import { Connection } from "./connection.ts";
import { identityOf, createFile } from "./database-file.ts";
import { StorageOpenError, StorageUnavailableError } from "../database.ts";
import { isBusy } from "./errors.ts";
import type { SqliteRuntime } from "./runtime.ts";

/** A held lock: a transaction in the lock file, and which file that is. */
interface HeldLock {
  readonly connection: Connection;
  readonly identity: string;
}

/**
 * Makes this process the only one that opens a database, until `release` or until the process exits for any reason: the
 * write lock of a small SQLite file next to the database, which the operating system frees when its process dies.
 *
 * Deleting the lock file would admit a second process, so the holder checks it regularly.
 */
export class FileLock {
  readonly #path: string;
  readonly #take: () => HeldLock;
  #lock: HeldLock;
  #lost: StorageUnavailableError | undefined;

  /** Throws StorageOpenError "locked" if another process holds it, SQLite's error if the file cannot be created. */
  constructor(sqlite: SqliteRuntime, file: string, pid: number) {
    this.#path = `${file}.lock`;
    this.#take = () => takeLock(sqlite, file, this.#path, pid);
    this.#lock = this.#take();
  }

  /**
   * Creates the lock file again if it was deleted. Throws StorageUnavailableError if another process holds the lock by
   * now, and from then on.
   */
  verify(): void {
    if (this.#lost !== undefined) throw this.#lost;
    if (identityOf(this.#path) === this.#lock.identity) return;
    const { connection } = this.#lock;
    try {
      this.#lock = this.#take();
    } catch (cause) {
      const message = `Storage is unavailable: ${this.#path} was deleted, so that another process could start.`;
      throw (this.#lost = new StorageUnavailableError(`${message} Stop one of the two.`, { cause }));
    }
    connection.close();
  }

  /** Removes the file too, as long as no other process can have locked it. */
  release(): void {
    removeOwn(this.#path, this.#lock.identity);
    this.#lock.connection.close();
  }
}

function takeLock(sqlite: SqliteRuntime, file: string, path: string, pid: number): HeldLock {
  for (;;) {
    createFile(path);
    const identity = identityOf(path);
    const connection = new Connection(sqlite, path);
    try {
      connection.exec("PRAGMA busy_timeout = 0; BEGIN IMMEDIATE");
      // Committed so that others can read who holds the lock. From here on they may be reading it, which takes a
      // moment.
      connection.exec(`PRAGMA busy_timeout = 1000; PRAGMA user_version = ${pid}; COMMIT; BEGIN IMMEDIATE`);
    } catch (error) {
      const holder = isBusy(error) ? readHolder(connection) : undefined;
      connection.close();
      if (holder === undefined) throw error;
      throw new StorageOpenError(
        "locked",
        `${file} is in use by ${holder}. Only one process can open it at a time: stop that one first.`,
        {
          cause: error,
        },
      );
    }
    if (identity !== undefined && identityOf(path) === identity) return { connection, identity };
    // Its last holder removed it meanwhile: the lock of a deleted file excludes no process.
    connection.close();
  }
}

/** Windows does not remove open files, so the file stays there. */
function removeOwn(path: string, identity: string): void {
  try {
    if (identityOf(path) === identity) rmSync(path);
  } catch {
    // A lock file that stays is harmless.
  }
}

function readHolder(connection: Connection): string {
  try {
    const pid = Number(connection.get("PRAGMA user_version")?.["user_version"]);
    if (pid > 0) return `process ${pid}`;
  } catch {
    // It is being written at this moment.
  }
  return "another process";
}
