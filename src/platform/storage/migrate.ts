import { createHash } from "node:crypto";
import type { Connection } from "./sqlite/connection.ts";
import { StorageOpenError } from "./database.ts";
import type { ColumnTypes, Migration } from "./migrations/migration.ts";

export const SQLITE_TYPES: ColumnTypes = {
  dialect: "sqlite",
  sequence: "INTEGER PRIMARY KEY AUTOINCREMENT",
  bytes: "BLOB",
  id: "TEXT",
  integer: "INTEGER",
  clustered: "WITHOUT ROWID",
};

export const MIGRATIONS_TABLE = "schema_migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, version TEXT)";
export const RECORD_MIGRATION = "INSERT INTO schema_migrations (number, name, version, digest) VALUES ($1, $2, $3, $4)";

/** A migration as one dialect runs it. */
interface MigrationStep {
  readonly number: number;
  readonly name: string;
  readonly statements: readonly string[];
  /** Tells whether a database was created by the same statements. */
  readonly digest: string;
}

/** A migration that ran, and the version of the program that ran it. */
export interface AppliedMigration {
  readonly number: number;
  readonly version: string | null;
  /** Missing if a build before the first release ran it. */
  readonly digest?: string | null;
}

/** What a database lacks. */
export interface Upgrade {
  readonly pending: readonly MigrationStep[];
  /** The digest of the first migration if a build that recorded none ran the same statements. */
  readonly adopted: string | null;
}

export function stepsOf(migrations: readonly Migration[], types: ColumnTypes): readonly MigrationStep[] {
  return migrations.map((migration) => {
    const statements = migration.statements(types);
    const digest = createHash("sha256").update(JSON.stringify(statements)).digest("hex");
    return { number: migration.number, name: migration.name, statements, digest };
  });
}

/**
 * Returns what a database lacks. `hasFirstSchema` is true if its schema is the one that the first migration creates.
 * Throws StorageOpenError "newer_schema" if it has an unknown migration, "unreleased_schema" if it was created by other
 * statements.
 */
export function planUpgrade(
  steps: readonly MigrationStep[],
  applied: readonly AppliedMigration[],
  hasFirstSchema: boolean,
): Upgrade {
  const digests = new Map(steps.map(({ number, digest }) => [number, digest]));
  const [only, ...others] = applied;
  const isAdopted = only !== undefined && others.length === 0 && !only.digest && only.number === 1 && hasFirstSchema;
  for (const { number, digest } of isAdopted ? [] : applied) {
    if (digest && !digests.has(number)) {
      const { number: newest, version } = applied.at(-1)!;
      const program = version === null ? "a newer version of this program" : `version ${version}`;
      throw new StorageOpenError(
        "newer_schema",
        `The database was migrated to schema ${newest} by ${program}; this version supports schemas up to ` +
          `${Math.max(0, ...digests.keys())}. Update this program, or restore a backup from before the update.`,
      );
    }
    if (digest !== digests.get(number)) {
      throw new StorageOpenError(
        "unreleased_schema",
        "The database was created by an unreleased build of `service`, from which there is no upgrade. Nothing was " +
          "changed. Open it with that build, or use a new database.",
      );
    }
  }
  const done = new Set(applied.map(({ number }) => number));
  return {
    pending: steps.filter(({ number }) => !done.has(number)),
    adopted: isAdopted ? (digests.get(1) ?? null) : null,
  };
}

/**
 * Returns what an SQLite database lacks, and changes nothing. Throws StorageOpenError if it belongs to another program
 * (it has tables, but no record of our migrations), and as `planUpgrade`.
 */
export function planSqliteUpgrade(connection: Connection, file: string, migrations: readonly Migration[]): Upgrade {
  const steps = stepsOf(migrations, SQLITE_TYPES);
  const tables = connection.all("SELECT name FROM sqlite_schema WHERE type = 'table'");
  if (tables.length === 0) return planUpgrade(steps, [], false);
  if (!tables.some((table) => table["name"] === "schema_migrations")) {
    const message = `${file} is an SQLite database of another program. Choose another file.`;
    throw new StorageOpenError("not_a_database", message);
  }
  const applied = connection.all("SELECT * FROM schema_migrations ORDER BY number");
  // SQLite keeps the text of each statement.
  const texts = new Set(connection.all("SELECT sql FROM sqlite_schema").map((row) => row["sql"]));
  const hasFirstSchema = steps[0]?.statements.every((statement) => texts.has(statement)) === true;
  return planUpgrade(steps, applied as unknown as AppliedMigration[], hasFirstSchema);
}

/**
 * Updates an SQLite database to the newest schema, each migration in a transaction of its own. If it is killed, the
 * next start continues after the last whole one. The caller holds the file's lock.
 */
export function migrateSqlite(connection: Connection, { pending, adopted }: Upgrade, version: string | null): void {
  connection.exec(`CREATE TABLE IF NOT EXISTS ${MIGRATIONS_TABLE}`);
  const hasDigests = "SELECT name FROM pragma_table_info('schema_migrations') WHERE name = 'digest'";
  if (connection.get(hasDigests) === undefined) {
    connection.exec("BEGIN IMMEDIATE; ALTER TABLE schema_migrations ADD COLUMN digest TEXT");
    connection.run("UPDATE schema_migrations SET digest = $1", [adopted]);
    connection.exec("COMMIT");
  }
  for (const { number, name, statements, digest } of pending) {
    connection.exec("BEGIN IMMEDIATE");
    for (const statement of statements) connection.exec(statement);
    connection.run(RECORD_MIGRATION, [number, name, version, digest]);
    connection.exec("COMMIT");
  }
}
