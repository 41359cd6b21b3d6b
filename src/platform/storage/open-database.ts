import type { Log } from "../ports.ts";
import { isPostgresUrl } from "./database-url.ts";
import type { Database, DatabaseReader } from "./database.ts";
import { stateOfLog } from "./event-log.ts";
import { MIGRATIONS } from "./migrations/index.ts";
import type { FileCheck } from "./sqlite/file-health.ts";
import { openSqlite } from "./sqlite/open.ts";
import { openSqliteReader } from "./sqlite/reader.ts";

export interface DatabaseSettings {
  /** An SQLite file, or the URL of a PostgreSQL database. */
  database: string;
  /** This program's version, kept with the migrations that it ran. */
  version: string;
  log: Log;
  /** The most connections to PostgreSQL. */
  connections?: number | undefined;
  /** The longest that a statement may take there, in milliseconds. */
  statementMilliseconds?: number | undefined;
  /** A file of certificates that PostgreSQL's may be signed by. */
  authorities?: string | undefined;
  /** Checks an SQLite file in the background. */
  checkFile?: FileCheck | undefined;
}

/** Opens what the text names, and brings its schema up to date. Throws StorageOpenError. */
export async function openDatabase(settings: DatabaseSettings): Promise<Database> {
  const { database, version, log, checkFile: check } = settings;
  if (!isPostgresUrl(database)) return openSqlite({ file: database, migrations: MIGRATIONS, version, log, check });
  const { openPostgres } = await import("./postgres/open.ts");
  return openPostgres({ ...settings, url: database, migrations: MIGRATIONS, stateOfEvents: stateOfLog });
}

/** Opens what the text names, to look at it as it is. Throws StorageOpenError. */
export async function openReader(settings: DatabaseSettings): Promise<DatabaseReader> {
  const { database } = settings;
  if (!isPostgresUrl(database)) return openSqliteReader(database);
  const { openPostgres } = await import("./postgres/open.ts");
  return openPostgres({ ...settings, url: database, migrations: MIGRATIONS, migrate: false });
}
