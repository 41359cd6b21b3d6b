import { StorageOpenError, StorageUnavailableError } from "../database.ts";

const BUSY = 5;
const IO_ERROR = 10;
const CORRUPT = 11;
const FULL = 13;
const NOT_A_DATABASE = 26;

/** SQLite's primary result codes that concern the disk, the file or its locks, not the statement. */
const UNAVAILABLE: readonly { code: number; message: string; reason: string }[] = [
  { code: 3, message: "access permission denied", reason: "access is denied" },
  { code: BUSY, message: "database is locked", reason: "another program holds the write lock" },
  { code: 7, message: "out of memory", reason: "out of memory" },
  { code: 8, message: "attempt to write a readonly database", reason: "the database is read-only" },
  { code: IO_ERROR, message: "disk I/O error", reason: "disk I/O failed" },
  { code: CORRUPT, message: "database disk image is malformed", reason: "the database file is damaged" },
  { code: FULL, message: "database or disk is full", reason: "the disk is full" },
  { code: 14, message: "unable to open database file", reason: "the database file cannot be opened" },
  { code: 15, message: "locking protocol", reason: "the database's locks do not work" },
  { code: NOT_A_DATABASE, message: "file is not a database", reason: "the file is not a database" },
];

/** Converts failures of disk, file or locks to StorageUnavailableError, and returns any other error as it is. */
export function asUnavailable(error: unknown): unknown {
  const reason = unavailability(error)?.reason ?? fileSystemReason(error);
  return reason === undefined
    ? error
    : new StorageUnavailableError(`Storage is unavailable: ${reason}.`, { cause: error });
}

/** Returns what failed while opening a file, and how to fix it. */
export function asOpenError(error: unknown, file: string): unknown {
  if (error instanceof StorageOpenError) return error;
  const cause = error instanceof StorageUnavailableError ? error.cause : error;
  const failure = unavailability(cause);
  switch (failure?.code) {
    case NOT_A_DATABASE:
    case CORRUPT: {
      const problem = failure.code === CORRUPT ? "a damaged SQLite database" : "not an SQLite database";
      const advice = "Restore it from a backup, or choose another file.";
      return new StorageOpenError("not_a_database", `${file} is ${problem}. ${advice}`, { cause });
    }
    case BUSY: {
      const problem = `Another program is writing to ${file}. Stop it, then start again.`;
      return new StorageOpenError("locked", problem, { cause });
    }
    default: {
      const reason = failure?.reason ?? fileSystemReason(cause);
      if (reason === undefined) return error;
      return new StorageOpenError("not_writable", `${file} cannot be written: ${reason}.`, { cause });
    }
  }
}

export function isBusy(error: unknown): boolean {
  return codeOf(error) === BUSY;
}

export function isFull(error: unknown): boolean {
  return codeOf(error) === FULL;
}

/** Returns true if a statement found the file, or the disk below it, damaged. */
export function isDamage(error: unknown): boolean {
  const code = codeOf(error);
  return code === CORRUPT || code === NOT_A_DATABASE || code === IO_ERROR;
}

function codeOf(error: unknown): number | undefined {
  return unavailability(error instanceof StorageUnavailableError ? error.cause : error)?.code;
}

function unavailability(error: unknown) {
  if (!(error instanceof Error) || !("code" in error) || error.code !== "ERR_SQLITE_ERROR") return undefined;
  // @photostructure/sqlite gives no number if reading several rows failed.
  if (!("errcode" in error)) return UNAVAILABLE.find(({ message }) => message === error.message);
  // The low byte; the rest is more specific.
  const primary = Number(error.errcode) & 0xff;
  return UNAVAILABLE.find(({ code }) => code === primary);
}

function fileSystemReason(error: unknown): string | undefined {
  return error instanceof Error && "syscall" in error ? error.message : undefined;
}
