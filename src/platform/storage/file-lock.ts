import { Connection } from "./connection.ts";
import { makeFile } from "./database-file.ts";
import { StorageOpenError } from "./database.ts";
import { isBusy } from "./sqlite-errors.ts";
import type { SqliteRuntime } from "./sqlite-runtime.ts";

/** Held until `release`, or until the process ends in whatever way. */
export interface FileLock {
  release(): void;
}

/**
 * Makes this process the only one that opens the database: the write lock of a small SQLite file beside it, which the
 * operating system takes back when its process dies. The file stays behind; deleting it could not be done safely while
 * another process is about to open it.
 *
 * Throws StorageOpenError "locked" where another process holds it, SQLite's error where the lock file cannot be made.
 */
export function lockFile(sqlite: SqliteRuntime, file: string, pid: number): FileLock {
  makeFile(`${file}.lock`);
  const connection = new Connection(sqlite, `${file}.lock`);
  try {
    connection.exec("PRAGMA busy_timeout = 0; BEGIN IMMEDIATE");
    // Committed so that others can read who holds the lock; from here on they may be reading it, which takes a moment.
    connection.exec(`PRAGMA busy_timeout = 1000; PRAGMA user_version = ${pid}; COMMIT; BEGIN IMMEDIATE`);
    return { release: () => connection.close() };
  } catch (error) {
    const holder = isBusy(error) ? readHolder(connection) : undefined;
    connection.close();
    if (holder === undefined) throw error;
    throw new StorageOpenError("locked", `${file} is in use by ${holder}. Only one process can open it at a time.`, {
      cause: error,
    });
  }
}

function readHolder(connection: Connection): string {
  try {
    const pid = Number(connection.get("PRAGMA user_version")?.["user_version"]);
    if (pid > 0) return `the process ${pid}`;
  } catch {
    // It is being written at this moment.
  }
  return "another process";
}
