import type { DeploymentSettings } from "../../../platform/deployment.ts";
import type { Log } from "../../../platform/ports.ts";
import { MasterKeyError } from "../../../platform/secrets/master-key.ts";
import { isPostgresUrl } from "../../../platform/storage/database-url.ts";
import { StorageOpenError, StorageUnavailableError } from "../../../platform/storage/database.ts";
import { driverFolder } from "../../../platform/storage/sqlite/runtime.ts";
import type { Context } from "../../context.ts";
import { UserError } from "../../errors.ts";
import { defaultKeyFile, type PostgresOptions } from "./database-options.ts";

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

/** Returns why the database cannot be used, with the hint for the code of a failed start; any other error as it is. */
export function databaseError(cause: unknown, hints: Partial<Record<StorageOpenError["code"], string>>): unknown {
  if (cause instanceof StorageOpenError) {
    return new UserError(cause.message, { code: cause.code, hint: hints[cause.code], cause });
  }
  if (cause instanceof MasterKeyError) return new UserError(cause.message, { code: "master_key", cause });
  if (cause instanceof StorageUnavailableError) return new UserError(cause.message, { code: "unreachable", cause });
  return cause;
}
