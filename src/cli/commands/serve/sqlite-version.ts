import { driverFolder, loadSqlite } from "../../../platform/storage/sqlite/runtime.ts";
import type { Context } from "../../context.ts";

/** Returns the version of the platform's SQLite. Throws StorageOpenError if there is none. Import lazily. */
export async function sqliteVersion(env: Context["env"]): Promise<string> {
  const { DatabaseSync } = await loadSqlite(driverFolder(env));
  const database = new DatabaseSync(":memory:");
  const statement = database.prepare("SELECT sqlite_version() AS version");
  const version = String(statement.get()?.["version"]);
  database.close();
  return version;
}
