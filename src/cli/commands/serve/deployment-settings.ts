import type { DeploymentSettings } from "../../../platform/deployment.ts";
import type { Log } from "../../../platform/ports.ts";
import { isPostgresUrl } from "../../../platform/storage/database-url.ts";
import { driverFolder } from "../../../platform/storage/sqlite/runtime.ts";
import type { Context } from "../../context.ts";
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
