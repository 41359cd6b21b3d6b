/**
 * The front door of the platform: the command imports nothing else of it. What each function needs is loaded when it is
 * called.
 */
import type * as client from "./admin/client.ts";
import type * as backup from "./maintenance/backup.ts";
import type * as check from "./maintenance/check.ts";
import type * as copy from "./maintenance/copy.ts";
import type * as restoration from "./maintenance/restore.ts";
import type * as status from "./maintenance/status.ts";
import type * as start from "./start.ts";
import type * as database from "./storage/open-database.ts";

export type { DeploymentSettings } from "./deployment.ts";
export * from "./errors.ts";
export type { DatabaseStatus } from "./maintenance/status.ts";
export type { McpExchange } from "./api/mcp.ts";
export type { Activity } from "./observability/activity.ts";
export type { LogLevel } from "./observability/json-log.ts";
export type { Log } from "./ports.ts";
export type { Platform, PlatformSettings } from "./start.ts";
export { describeDatabase, isPostgresUrl } from "./storage/database-url.ts";
export { type DatabaseReader, StorageOpenError, StorageUnavailableError } from "./storage/database.ts";
export type { DatabaseSettings } from "./storage/open-database.ts";
export type { FileCheck } from "./storage/sqlite/file-health.ts";
export { DRIVER, driverFolder, loadSqlite } from "./storage/sqlite/runtime.ts";

export const startPlatform: typeof start.startPlatform = async (...given) =>
  (await import("./start.ts")).startPlatform(...given);

export const openDatabase: typeof database.openDatabase = async (...given) =>
  (await import("./storage/open-database.ts")).openDatabase(...given);

export const openReader: typeof database.openReader = async (...given) =>
  (await import("./storage/open-database.ts")).openReader(...given);

export const statusOf: typeof status.statusOf = async (...given) =>
  (await import("./maintenance/status.ts")).statusOf(...given);

export const checkDatabase: typeof check.checkDatabase = async (...given) =>
  (await import("./maintenance/check.ts")).checkDatabase(...given);

export const backUp: typeof backup.backUp = async (...given) =>
  (await import("./maintenance/backup.ts")).backUp(...given);

export const restore: typeof restoration.restore = async (...given) =>
  (await import("./maintenance/restore.ts")).restore(...given);

export const copyDatabase: typeof copy.copyDatabase = async (...given) =>
  (await import("./maintenance/copy.ts")).copyDatabase(...given);

export const createSignInLink: typeof client.createSignInLink = async (...given) =>
  (await import("./admin/client.ts")).createSignInLink(...given);

export const requestSignInLink: typeof client.requestSignInLink = async (...given) =>
  (await import("./admin/client.ts")).requestSignInLink(...given);

/** Loads the log of a process that prints JSON lines. */
export const loadJsonLog = () => import("./observability/json-log.ts");
