import { loadSqlite } from "../../../platform/storage/sqlite/runtime.ts";

/** Returns the version of the platform's SQLite. Throws StorageOpenError if there is none. Import lazily. */
export async function sqliteVersion(): Promise<string> {
  const { DatabaseSync } = await loadSqlite();
  const database = new DatabaseSync(":memory:");
  const statement = database.prepare("SELECT sqlite_version() AS version");
  const version = String(statement.get()?.["version"]);
  database.close();
  return version;
}
