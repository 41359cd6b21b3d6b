import { existsSync, readFileSync } from "node:fs";

/** The first line of `service serve --json`. */
export interface ReadyLine extends Partial<Keys> {
  base_url: string;
  /** The file that has the keys of a database that is not temporary. */
  credentials_file?: string;
  /** The folder of a temporary database. */
  temporary_folder?: string;
}

interface Keys {
  sandbox_key: string;
  live_key: string;
}

/** Returns the first keys of a database, which an SQLite file has next to it after its first start, too. */
export function keysOf(ready: ReadyLine, database: string | undefined): Keys {
  const { sandbox_key, live_key, credentials_file = `${database}.credentials` } = ready;
  if (sandbox_key !== undefined && live_key !== undefined) return { sandbox_key, live_key };
  if (existsSync(credentials_file)) return JSON.parse(readFileSync(credentials_file, "utf8")) as Keys;
  throw new Error(
    `The API keys of ${database} are unknown: ${credentials_file} does not exist. Use a new database, or none.`,
  );
}
