import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { Context } from "../../context.ts";
import { UsageError } from "../../errors.ts";

/**
 * The database that is meant: what `--database` or SERVICE_DATABASE names (an SQLite file, or a PostgreSQL URL), or the
 * file under the XDG data folder. Throws UsageError for any other URL.
 */
export function namedDatabase(options: { database?: string }, context: Context): string {
  const named = options.database ?? context.env["SERVICE_DATABASE"];
  if (named === undefined || named === "") return join(dataFolder(context), "platform.db");
  if (/^postgres(ql)?:\/\//.test(named)) return named;
  if (/^[a-z][a-z0-9+]+:\/\//.test(named)) {
    throw new UsageError("--database must be the path of an SQLite file or a PostgreSQL URL", {
      hint: "For example ./platform.db or postgres://user@host/database",
    });
  }
  return resolve(context.cwd, named);
}

/** Where the master key lies that goes with a PostgreSQL database, unless it is given. */
export function defaultKeyFile(context: Context): string {
  return join(dataFolder(context), "master.key");
}

/** Where the platform keeps its data unless a database is named. */
export function dataFolder({ env }: Context): string {
  const data = env["XDG_DATA_HOME"] || join(env["HOME"] || homedir(), ".local", "share");
  return join(data, "service");
}
