/**
 * The front door of the platform: the command imports nothing else of it. What each function needs is loaded when it is
 * called.
 */
export type { DeploymentSettings } from "./deployment.ts";
export * from "./errors.ts";
export type { DatabaseStatus } from "./maintenance/check.ts";
export type { McpExchange } from "./api/mcp.ts";
export type { Activity } from "./observability/activity.ts";
export type { LogLevel } from "./observability/json-log.ts";
export type { Log } from "./ports.ts";
export type { Platform, PlatformSettings } from "./start.ts";
export { describeDatabase, isPostgresUrl } from "./storage/database.ts";
export { type DatabaseReader, StorageOpenError, StorageUnavailableError } from "./storage/database.ts";
export type { DatabaseSettings } from "./storage/open-database.ts";
export type { FileCheck } from "./storage/sqlite/file-health.ts";
export { DRIVER, driverFolder, loadSqlite } from "./storage/sqlite/runtime.ts";

/** Returns a function of a module that is loaded when the function is called. */
function lazy<Module, Name extends keyof Module>(load: () => Promise<Module>, name: Name): Module[Name] {
  type Call = (...given: unknown[]) => unknown;
  const call: Call = async (...given) => ((await load())[name] as Call)(...given);
  return call as Module[Name];
}

export const startPlatform = lazy(() => import("./start.ts"), "startPlatform");
export const openDatabase = lazy(() => import("./storage/open-database.ts"), "openDatabase");
export const openReader = lazy(() => import("./storage/open-database.ts"), "openReader");
export const statusOf = lazy(() => import("./maintenance/check.ts"), "statusOf");
export const checkDatabase = lazy(() => import("./maintenance/check.ts"), "checkDatabase");
export const backUp = lazy(() => import("./maintenance/backup.ts"), "backUp");
export const restore = lazy(() => import("./maintenance/restore.ts"), "restore");
export const copyDatabase = lazy(() => import("./maintenance/copy.ts"), "copyDatabase");
export const createSignInLink = lazy(() => import("./admin.ts"), "createSignInLink");
export const requestSignInLink = lazy(() => import("./admin.ts"), "requestSignInLink");

/** Loads the log of a process that prints JSON lines. */
export const loadJsonLog = () => import("./observability/json-log.ts");
