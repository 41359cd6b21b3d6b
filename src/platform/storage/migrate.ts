import type { Connection } from "./sqlite/connection.ts";
import { StorageOpenError } from "./database.ts";
import type { ColumnTypes, Migration } from "./migrations/migration.ts";

const SQLITE_TYPES: ColumnTypes = {
  dialect: "sqlite",
  sequence: "INTEGER PRIMARY KEY AUTOINCREMENT",
  bytes: "BLOB",
  id: "TEXT",
  integer: "INTEGER",
  clustered: "WITHOUT ROWID",
};

/** A migration that ran, and the version of the program that ran it. */
export interface AppliedMigration {
  readonly number: number;
  readonly version: string | null;
}

/** Returns the migrations that a database lacks. Throws StorageOpenError "newer_schema" if it has an unknown one. */
export function pendingMigrations(
  migrations: readonly Migration[],
  applied: readonly AppliedMigration[],
): readonly Migration[] {
  const supported = new Set(migrations.map((migration) => migration.number));
  const unknown = applied.find((migration) => !supported.has(migration.number));
  if (unknown !== undefined) {
    const program = unknown.version === null ? "a newer version of this program" : `version ${unknown.version}`;
    throw new StorageOpenError(
      "newer_schema",
      `The database was migrated to schema ${unknown.number} by ${program}; this version supports schemas up to ` +
        `${Math.max(0, ...supported)}. Update this program, or restore a backup from before the update.`,
    );
  }
  const done = new Set(applied.map((migration) => migration.number));
  return migrations.filter((migration) => !done.has(migration.number));
}

/**
 * Throws StorageOpenError if the database belongs to another program: it has tables, but no record of our migrations.
 */
export function assertOwnDatabase(connection: Connection, file: string): void {
  const tables = connection.all("SELECT name FROM sqlite_schema WHERE type = 'table'");
  if (tables.length === 0 || tables.some((table) => table["name"] === "schema_migrations")) return;
  const message = `${file} is an SQLite database of another program. Choose another file.`;
  throw new StorageOpenError("not_a_database", message);
}

/**
 * Updates an SQLite database to the newest schema, each migration in a transaction of its own. If it is killed, the
 * next start continues after the last whole one. The caller holds the file's lock.
 */
export function migrateSqlite(connection: Connection, migrations: readonly Migration[], version: string | null): void {
  connection.exec(
    "CREATE TABLE IF NOT EXISTS schema_migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, version TEXT)",
  );
  const applied = connection.all("SELECT number, version FROM schema_migrations ORDER BY number");
  const pending = pendingMigrations(migrations, applied as unknown as AppliedMigration[]);
  for (const migration of pending) {
    connection.exec("BEGIN IMMEDIATE");
    for (const statement of migration.statements(SQLITE_TYPES)) connection.exec(statement);
    connection.run("INSERT INTO schema_migrations (number, name, version) VALUES ($1, $2, $3)", [
      migration.number,
      migration.name,
      version,
    ]);
    connection.exec("COMMIT");
  }
}
