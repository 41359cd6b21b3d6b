import { join, resolve } from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import type { Context } from "../../context.ts";
import { UsageError } from "../../errors.ts";
import { dataDirectory } from "../../settings/read.ts";
import { isPostgresUrl } from "../../../platform/storage/database-url.ts";

/** How the platform uses a PostgreSQL database. */
export interface PostgresOptions {
  databasePool?: number;
  /** Seconds. */
  databaseTimeout?: number;
  databaseCa?: string;
  masterKeyFile?: string;
}

export function addPostgresOptions(command: Command): Command {
  return command
    .option("--database-pool <number>", "Maximum number of PostgreSQL connections (default: 16)", parseCount)
    .option("--database-timeout <seconds>", "PostgreSQL statement timeout (default: 5)", parseSeconds)
    .option("--database-ca <file>", "CA certificates to verify PostgreSQL's certificate with (default: the system's)")
    .option(
      "--master-key-file <file>",
      "File that contains the master key; SERVICE_MASTER_KEY contains the key itself",
    );
}

function parseCount(text: string): number {
  const count = Number(text);
  if (/^\d{1,4}$/.test(text) && count >= 2) return count;
  throw new InvalidArgumentError("Must be a number from 2 to 9999.");
}

export function parseSeconds(text: string): number {
  if (/^\d{1,4}(\.\d{1,3})?$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Must be a number of seconds, such as 5.");
}

/**
 * Returns the database of `--database` or SERVICE_DATABASE (an SQLite file, or a PostgreSQL URL), or the file in the
 * XDG data folder. Throws UsageError for any other URL.
 */
export function namedDatabase(options: { database?: string }, context: Context): string {
  const named = options.database ?? context.env["SERVICE_DATABASE"];
  if (named === undefined || named === "") return join(dataDirectory(context.env), "platform.db");
  if (isPostgresUrl(named)) return named;
  if (named === ":memory:") {
    throw new UsageError("--database must be a file or a PostgreSQL URL, not :memory:", {
      hint: "For a temporary database: service serve --ephemeral",
    });
  }
  if (/^[a-z][a-z0-9+]+:\/\//.test(named)) {
    throw new UsageError("--database must be the path of an SQLite file or a PostgreSQL URL", {
      hint: "For example ./platform.db or postgres://user@host/database",
    });
  }
  return resolve(context.cwd, named);
}

/** The path of the master key for a PostgreSQL database, unless it is given. */
export function defaultKeyFile(context: Context): string {
  return join(dataDirectory(context.env), "master.key");
}
