import { chmodSync, existsSync, linkSync, realpathSync, renameSync, rmSync, statSync } from "node:fs";
import { copyFile } from "node:fs/promises";
import { dirname } from "node:path";
import { shellCommand } from "../../contract/shell-command.ts";
import { assertLogBelongs, stampCopy } from "../storage/sqlite/commit-stamps.ts";
import { Connection } from "../storage/sqlite/connection.ts";
import {
  assertLocalFileSystem,
  assertOneName,
  flushFile,
  flushFolder,
  locateFile,
  replacedPrefix,
} from "../storage/sqlite/database-file.ts";
import { StorageOpenError } from "../storage/database.ts";
import { FileLock } from "../storage/sqlite/file-lock.ts";
import { planSqliteUpgrade } from "../storage/migrate.ts";
import { MIGRATIONS } from "../storage/migrations/index.ts";
import { asOpenError } from "../storage/sqlite/errors.ts";
import { openSqliteReader } from "../storage/sqlite/open.ts";
import { loadSqlite, type SqliteRuntime } from "../storage/sqlite/runtime.ts";
import { checkDatabase } from "./check.ts";
import { RestoreError } from "../errors.ts";

interface RestoreOptions {
  stamp: string;
  driver?: string | undefined;
  /** Called when the backup is known to be whole; what it throws cancels the restore. */
  confirm?: (() => Promise<void>) | undefined;
}

/**
 * Replaces an SQLite database that no process uses with a backup. The backup is copied and checked first. The replaced
 * database stays next to it under another name, with its log. If this is killed, one of the two databases is there, and
 * the platform never starts on a mixture. Returns the number of rows by table, and the new path of the replaced
 * database. Throws RestoreError and StorageOpenError.
 */
export async function restore(backup: string, database: string, { stamp, driver, confirm }: RestoreOptions) {
  const sqlite = await loadSqlite(driver);
  assertWhole(backup, database);
  const file = locateFile(database);
  assertLocalFileSystem(file);
  const lock = takeLock(sqlite, file);
  // The lock is held, so no other process restores.
  const copy = `${file}.restoring`;
  try {
    assertOneName(file);
    removeWithLogs(copy);
    await copyFile(backup, copy);
    chmodSync(copy, 0o600);
    const rows = await prepare(sqlite, copy, backup, driver);
    await confirm?.();
    const previous = existsSync(file) ? replacedPrefix(file) + stamp : undefined;
    if (previous !== undefined) addName(file, previous);
    // The shared memory of a killed process would require the log that is moved away.
    for (const suffix of ["-shm", "-journal"]) rmSync(file + suffix, { force: true });
    renameSync(copy, file);
    if (existsSync(`${file}-wal`)) {
      if (previous === undefined) rmSync(`${file}-wal`);
      else renameSync(`${file}-wal`, `${previous}-wal`);
    }
    flushFolder(dirname(file));
    return { rows, previous };
  } catch (error) {
    const named = asOpenError(error, backup);
    if (!(named instanceof StorageOpenError)) throw named;
    throw new StorageOpenError(named.code, named.message.replaceAll(copy, backup), { cause: error });
  } finally {
    removeWithLogs(copy);
    lock.release();
  }
}

/** The file keeps its name until another replaces it, if the file system supports links. */
function addName(file: string, name: string): void {
  try {
    linkSync(file, name);
  } catch {
    renameSync(file, name);
  }
}

function takeLock(sqlite: SqliteRuntime, file: string): FileLock {
  try {
    return new FileLock(sqlite, file, process.pid);
  } catch (error) {
    throw asOpenError(error, file);
  }
}

/** Throws RestoreError if a copy of the file alone would not be a whole database. */
function assertWhole(backup: string, database: string): void {
  if (!statSync(backup).isFile()) throw new RestoreError(`${backup} is not a file.`);
  if (existsSync(database) && realpathSync(backup) === realpathSync(database)) {
    throw new RestoreError(`${backup} is the database itself. Pass a backup of it.`);
  }
  if ((statSync(`${backup}-wal`, { throwIfNoEntry: false })?.size ?? 0) === 0) return;
  assertLogBelongs(backup);
  throw new RestoreError(
    `${backup} is in use, or was when its process was killed: ${backup}-wal has changes that are not in it. ` +
      shellCommand`Create a backup of it (service db backup FILE --database ${backup}) and restore that.`,
  );
}

/** Checks the copy, and makes it an independent, durable database. Throws RestoreError, and StorageOpenError. */
async function prepare(sqlite: SqliteRuntime, copy: string, backup: string, driver: string | undefined) {
  const writer = new Connection(sqlite, copy);
  try {
    planSqliteUpgrade(writer, copy, MIGRATIONS);
    // Writes go into the file itself, not into a log.
    writer.exec("PRAGMA journal_mode = DELETE");
    stampCopy(writer);
  } finally {
    writer.close();
  }
  const reader = await openSqliteReader(copy, driver);
  try {
    const { problems, rows } = await checkDatabase(reader);
    if (problems.length > 0) {
      const more = problems.length > 1 ? ` (and ${problems.length - 1} more problems)` : "";
      throw new RestoreError(`${backup} is damaged: ${problems[0]}${more} Nothing was changed.`);
    }
    flushFile(copy);
    return rows;
  } finally {
    await reader.close();
  }
}

function removeWithLogs(file: string): void {
  for (const suffix of ["", "-wal", "-shm", "-journal"]) rmSync(file + suffix, { force: true });
}
