import { createRequire } from "node:module";
import { join } from "node:path";
import { dataFolder } from "../../../files/folders.ts";
import { type SqlValue, StorageOpenError } from "../database.ts";

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

/** The package for a Node.js without SQLite of its own. `service db install-driver` installs this version. */
export const DRIVER = { name: "@photostructure/sqlite", version: "1.2.1", folder: "sqlite-driver-1.2.1" } as const;

/**
 * Returns the folder of the installed driver: below the platform's data, because caches may be emptied. Undefined
 * without a home folder.
 */
export function driverFolder(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const data = dataFolder(env);
  return data && join(data, DRIVER.folder);
}

/**
 * Returns Node's own SQLite if this Node has one, else the package, from next to this program or from the folder in
 * which it was installed. Throws StorageOpenError without any.
 */
export async function loadSqlite(driver?: string): Promise<SqliteRuntime> {
  const builtIn = builtInSqlite();
  if (builtIn !== undefined) return builtIn;
  try {
    return await import("@photostructure/sqlite").catch((error: unknown) => loadInstalled(driver, error));
  } catch (cause) {
    throw new StorageOpenError("driver_missing", `This Node.js (${process.version}) has no SQLite built in`, { cause });
  }
}

function loadInstalled(folder: string | undefined, error: unknown): SqliteRuntime {
  if (folder === undefined) throw error;
  return createRequire(join(folder, "package.json"))(DRIVER.name) as SqliteRuntime;
}

function builtInSqlite(): SqliteRuntime | undefined {
  // Loading it warns on stderr that it is experimental, which users of this program do not need to know.
  const announcer: { emitWarning: unknown } = process;
  const { emitWarning } = announcer;
  announcer.emitWarning = () => undefined;
  try {
    return process.getBuiltinModule("node:sqlite") as SqliteRuntime | undefined;
  } finally {
    announcer.emitWarning = emitWarning;
  }
}
