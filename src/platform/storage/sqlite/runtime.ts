import { StorageOpenError, type SqlValue } from "../database.ts";

/** The part of `node:sqlite` that the driver uses. `@photostructure/sqlite` has the same API. */
export interface SqliteRuntime {
  DatabaseSync: new (file: string, options?: { readOnly?: boolean }) => SqliteDatabase;
}

export interface SqliteDatabase {
  exec(sql: string): void;
  prepare(sql: string): SqliteStatement;
  close(): void;
}

export interface SqliteStatement {
  get(...values: SqlValue[]): Record<string, unknown> | undefined;
  all(...values: SqlValue[]): Record<string, unknown>[];
  run(...values: SqlValue[]): { changes: number | bigint };
}

/**
 * Returns Node's own SQLite if this Node has one, else the optional package. Throws StorageOpenError without either.
 */
export async function loadSqlite(): Promise<SqliteRuntime> {
  const builtIn = builtInSqlite();
  if (builtIn !== undefined) return builtIn;
  try {
    return await import("@photostructure/sqlite");
  } catch (cause) {
    throw new StorageOpenError(
      "unreachable",
      `This Node.js (${process.version}) has no SQLite built in, and the package @photostructure/sqlite cannot be ` +
        "loaded. Use Node.js 22.13 or later, or reinstall with optional dependencies.",
      { cause },
    );
  }
}

function builtInSqlite(): SqliteRuntime | undefined {
  // Loading it warns on stderr that it is experimental, which is of no use to a user of this program.
  const announcer: { emitWarning: unknown } = process;
  const { emitWarning } = announcer;
  announcer.emitWarning = () => undefined;
  try {
    return process.getBuiltinModule("node:sqlite") as SqliteRuntime | undefined;
  } finally {
    announcer.emitWarning = emitWarning;
  }
}
