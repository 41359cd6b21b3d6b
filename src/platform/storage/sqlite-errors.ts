import { StorageOpenError, StorageUnavailableError } from "./database.ts";

/** SQLite's primary result codes that speak of the disk, the file or its locks, not of the statement. */
const BUSY = 5;
const CORRUPT = 11;
const NOT_A_DATABASE = 26;
const UNAVAILABLE: ReadonlyMap<number, string> = new Map([
  [3, "access denied"],
  [BUSY, "another program holds the database's write lock"],
  [6, "the database is locked"],
  [7, "out of memory"],
  [8, "the database is read-only"],
  [10, "disk I/O error"],
  [CORRUPT, "the database file is damaged"],
  [13, "the disk is full"],
  [14, "the database file cannot be opened"],
  [15, "the database's locks do not work"],
  [22, "the file is too large for this system"],
  [NOT_A_DATABASE, "the file is not a database"],
]);

/** Why the database cannot work now, or undefined where the statement itself was wrong. */
function unavailability(error: unknown): string | undefined {
  return UNAVAILABLE.get(primaryCode(error));
}

function primaryCode(error: unknown): number {
  if (!(error instanceof Error) || !("errcode" in error) || typeof error.errcode !== "number") return 0;
  // The low byte; the rest says more precisely what failed.
  return error.errcode & 0xff;
}

export function isBusy(error: unknown): boolean {
  return primaryCode(error) === BUSY;
}

/** Trouble with disk, file or locks as StorageUnavailableError; any other error as it is. */
export function asUnavailable(error: unknown): unknown {
  const reason = unavailability(error);
  return reason === undefined
    ? error
    : new StorageUnavailableError(`Storage is unavailable: ${reason}.`, { cause: error });
}

/** What went wrong while opening, in words that name the file and the way out. */
export function asOpenError(error: unknown, file: string): unknown {
  if (error instanceof StorageOpenError) return error;
  const options = { cause: error };
  const code = primaryCode(error);
  if (code === NOT_A_DATABASE || code === CORRUPT) {
    const problem = code === CORRUPT ? "a damaged SQLite database" : "not an SQLite database";
    const advice = "Restore it from a backup, or name another file.";
    return new StorageOpenError("not_a_database", `${file} is ${problem}. ${advice}`, options);
  }
  if (code === BUSY) {
    return new StorageOpenError("locked", `Another program is writing to ${file}. Stop it and start again.`, options);
  }
  const reason = unavailability(error) ?? fileSystemReason(error);
  if (reason === undefined) return error;
  return new StorageOpenError("not_writable", `${file} cannot be written: ${reason}.`, options);
}

function fileSystemReason(error: unknown): string | undefined {
  return error instanceof Error && "syscall" in error ? error.message : undefined;
}
