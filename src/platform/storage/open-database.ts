import type { Log } from "../ports.ts";
import { type Database, type DatabaseReader, isPostgresUrl } from "./database.ts";
import { stateOfLog } from "./event-log.ts";
import { MIGRATIONS } from "./migrations/index.ts";
import type { FileCheck } from "./sqlite/file-health.ts";
import { openSqlite, openSqliteReader } from "./sqlite/open.ts";

export interface DatabaseSettings {
  /** An SQLite file, or the URL of a PostgreSQL database. */
  database: string;
  /** This program's version, recorded with the migrations that it ran. */
  version: string;
  log: Log;
  /** Maximum number of connections to PostgreSQL. */
  connections?: number | undefined;
  /** Maximum duration of a statement there, in milliseconds. */
  statementMilliseconds?: number | undefined;
  /** A file of CA certificates for PostgreSQL's certificate. */
  authorities?: string | undefined;
  /** Checks an SQLite file in the background. */
  checkFile?: FileCheck | undefined;
  /** The folder of the installed SQLite driver, for a Node.js without SQLite. */
  driver?: string | undefined;
}

/** Opens the database that the text names, and migrates its schema. Throws StorageOpenError. */
export async function openDatabase(settings: DatabaseSettings): Promise<Database> {
  const { database, version, log, checkFile: check, driver } = settings;
  if (!isPostgresUrl(database)) {
    return openSqlite({ file: database, migrations: MIGRATIONS, version, log, check, driver });
  }
  const { openPostgres } = await import("./postgres/open.ts");
  return openPostgres({ ...settings, url: database, migrations: MIGRATIONS, stateOfEvents: stateOfLog });
}

/** Opens the database that the text names for reading, as it is. Throws StorageOpenError. */
export async function openReader(settings: DatabaseSettings): Promise<DatabaseReader> {
  const { database, driver } = settings;
  if (!isPostgresUrl(database)) return openSqliteReader(database, driver);
  const { openPostgres } = await import("./postgres/open.ts");
  return openPostgres({ ...settings, url: database, migrations: MIGRATIONS, migrate: false });
}
