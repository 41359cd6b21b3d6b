import { existsSync } from "node:fs";
import { assertLogBelongs } from "./commit-stamps.ts";
import { Connection } from "./connection.ts";
import { type DatabaseReader, queriesBy, StorageOpenError } from "../database.ts";
import { planSqliteUpgrade } from "../migrate.ts";
import { MIGRATIONS } from "../migrations/index.ts";
import { asOpenError } from "./errors.ts";
import { loadSqlite } from "./runtime.ts";

/**
 * Opens a database file for reading, even while a platform serves it. Creates and changes nothing. Throws
 * StorageOpenError: "missing", "log_mismatch", "not_a_database" if it is not a platform's, and as `planUpgrade`.
 */
export async function openSqliteReader(file: string, driver?: string): Promise<DatabaseReader> {
  if (!existsSync(file)) throw new StorageOpenError("missing", `${file} does not exist.`);
  const sqlite = await loadSqlite(driver);
  try {
    assertLogBelongs(file);
    const connection = new Connection(sqlite, file, { readOnly: true });
    connection.exec("PRAGMA busy_timeout = 5000; PRAGMA trusted_schema = OFF");
    if (connection.get("SELECT name FROM sqlite_schema WHERE name = 'schema_migrations'") === undefined) {
      connection.close();
      throw new StorageOpenError("not_a_database", `${file} is not a database of the platform. Pass another file.`);
    }
    try {
      planSqliteUpgrade(connection, file, MIGRATIONS);
    } catch (error) {
      connection.close();
      throw error;
    }
    return {
      ...queriesBy("sqlite", async (sql, parameters) => connection.all(sql, parameters)),
      close: async () => connection.close(),
    };
  } catch (error) {
    throw asOpenError(error, file);
  }
}
