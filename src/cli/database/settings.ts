import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import {
  type DeploymentSettings,
  driverFolder,
  isPostgresUrl,
  type Log,
  MasterKeyError,
  StorageOpenError,
  StorageUnavailableError,
} from "../../platform/index.ts";
import type { Context } from "../context.ts";
import { EXIT_CODES, UsageError, UserError } from "../errors.ts";
import { databaseOf, projectWithPlatform } from "../project/platform.ts";
import { dataDirectory } from "../settings/read.ts";
import type { PostgresOptions } from "./options.ts";

/**
 * Returns the database of `--database` or SERVICE_DATABASE (an SQLite file, or a PostgreSQL URL), the one of the project
 * file, or the file in the XDG data folder. Throws UsageError for any other URL, and
 * ProjectFileError.
 */
export function namedDatabase(options: { database?: string }, context: Context): string {
  const named = options.database ?? context.env["SERVICE_DATABASE"];
  if (named === undefined || named === "") return unnamedDatabase(context);
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

/** Names a folder that is about to be created: a mistyped path would be a new, empty platform. */
export function noteNewFolder(database: string, { output }: Context): void {
  const folder = dirname(database);
  if (!isPostgresUrl(database) && !existsSync(folder)) output.notice(`Creating the folder ${folder}`);
}

function unnamedDatabase(context: Context): string {
  const { projectFolder } = context;
  const project = projectWithPlatform(projectFolder);
  return project === undefined ? defaultDatabase(context) : databaseOf(project, projectFolder);
}

/** The database outside of projects. Throws UserError without a home folder. */
function defaultDatabase({ env }: Context): string {
  return join(dataDirectory(env), "platform.db");
}

/** Returns true for the database outside of projects, which needs a home folder. */
export function isDefaultDatabase(database: string, context: Context): boolean {
  try {
    return database === defaultDatabase(context);
  } catch {
    return false;
  }
}

/** The path of the master key for a PostgreSQL database, unless it is given. */
export function defaultKeyFile(context: Context): string {
  return join(dataDirectory(context.env), "master.key");
}

const SILENT: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** Returns the settings from a command's options. Without a log, the database is opened silently. */
export function deploymentSettings(
  database: string,
  options: PostgresOptions,
  context: Context,
  log: Log = SILENT,
): DeploymentSettings {
  return {
    database,
    masterKey: context.env["SERVICE_MASTER_KEY"],
    masterKeyFile: options.masterKeyFile ?? (isPostgresUrl(database) ? defaultKeyFile(context) : undefined),
    connections: options.databasePool,
    statementMilliseconds: options.databaseTimeout && options.databaseTimeout * 1000,
    authorities: options.databaseCa,
    version: context.version,
    driver: driverFolder(context.env),
    log,
  };
}

const DRIVER_MISSING =
  "Use Node.js 22.13 or later, or first run this once, which downloads SQLite from the npm registry: service db install-driver";

/** Returns why the database cannot be used, with the hint for the code of a failed start; any other error as it is. */
export function databaseError(cause: unknown, hints: Partial<Record<StorageOpenError["code"], string>>): unknown {
  if (cause instanceof StorageOpenError) {
    return new UserError(cause.message, {
      code: cause.code,
      hint: cause.code === "driver_missing" ? DRIVER_MISSING : hints[cause.code],
      exitCode: cause.code === "missing" ? EXIT_CODES.usage : EXIT_CODES.failed,
      cause,
    });
  }
  if (cause instanceof MasterKeyError) return new UserError(cause.message, { code: "master_key", cause });
  if (cause instanceof StorageUnavailableError) return new UserError(cause.message, { code: "unreachable", cause });
  return cause;
}
