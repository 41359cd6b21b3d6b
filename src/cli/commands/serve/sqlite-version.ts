import { loadSqlite } from "../../../platform/storage/sqlite/runtime.ts";

/** The version of the SQLite that the platform would use. Throws StorageOpenError where there is none. Import lazily. */
export async function sqliteVersion(): Promise<string> {
  const { DatabaseSync } = await loadSqlite();
  const database = new DatabaseSync(":memory:");
  const statement = database.prepare("SELECT sqlite_version() AS version");
  const version = String(statement.get()?.["version"]);
  database.close();
  return version;
}
