import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { Context } from "../../context.ts";
import { UsageError } from "../../errors.ts";

/** The database that is meant: what `--database` names, or the one under the XDG data folder. Throws UsageError for a URL. */
export function databaseFile(options: { database?: string }, context: Context): string {
  if (options.database !== undefined) {
    if (/^[a-z][a-z0-9+]+:\/\//.test(options.database)) {
      throw new UsageError("--database takes the path of a SQLite file", { hint: "For example ./platform.db" });
    }
    return resolve(context.cwd, options.database);
  }
  const data = context.env["XDG_DATA_HOME"] || join(context.env["HOME"] || homedir(), ".local", "share");
  return join(data, "service", "platform.db");
}
