import { constants } from "node:fs";
import { access, mkdtemp, rmdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type Check, failed, type Finding, ok, warning } from "./finding.ts";
import { proxiesOf } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { PROJECT_FILE } from "../../project/file.ts";
import { resolveTarget } from "../../settings/connection.ts";
import { dataDirectory, isOpenToOthers, readSettings, SETTINGS_FILE } from "../../settings/read.ts";
import { parseProxy, proxyFor } from "../../../client/proxy-settings.ts";
import { shellCommand } from "../../../contract/shell-command.ts";
import { addressOf } from "../../../network/connect-options.ts";
import { acceptsConnections } from "../../../network/port-probe.ts";

const MIN_NODE_VERSION = [20, 19] as const;
const PROXY_VARIABLES = ["http_proxy", "https_proxy"] as const;

export function machineChecks(context: Context, timeoutMs: number): Check[] {
  return [
    { id: "node", title: "Node.js", run: () => checkNode(context) },
    { id: "settings_file", title: "Settings file", run: () => checkSettings(context) },
    { id: "settings_folder", title: "Settings folder", run: () => checkFolder(context.settingsDirectory, "settings") },
    { id: "data_folder", title: "Data folder", run: () => checkFolder(dataDirectory(context.env), "data") },
    { id: "sqlite", title: "SQLite", run: () => checkSqlite(context) },
    ...(context.hasProjectFile ? [{ id: "project_file", title: PROJECT_FILE, run: () => checkProject(context) }] : []),
    { id: "proxy", title: "Proxy", run: () => checkProxy(context, timeoutMs) },
  ];
}

function checkNode({ platform }: Context): Finding {
  const { node } = process.versions;
  const [major = 0, minor = 0] = node.split(".").map(Number);
  const isNew = major > MIN_NODE_VERSION[0] || (major === MIN_NODE_VERSION[0] && minor >= MIN_NODE_VERSION[1]);
  const detail = `${node} on ${platform}-${process.arch}`;
  return isNew
    ? ok(detail)
    : failed(detail, `Install Node.js ${MIN_NODE_VERSION.join(".")} or later: https://nodejs.org`);
}

async function checkSettings({ settingsDirectory: folder, platform }: Context): Promise<Finding> {
  const file = join(folder, SETTINGS_FILE);
  // Throws if the file is damaged.
  readSettings(folder);
  const [fileMode, folderMode] = await Promise.all([modeOf(file), modeOf(folder)]);
  if (fileMode === undefined) return ok(`none yet; \`service login\` creates ${file}`);
  if (isOpenToOthers(fileMode, platform)) {
    return warning(
      `${file} is readable by other users (mode ${fileMode.toString(8)})`,
      `Run: ${shellCommand`chmod 600 ${file}`}. If others may have read it, rotate its keys.`,
    );
  }
  if (folderMode !== undefined && isOpenToOthers(folderMode, platform)) {
    return warning(
      `${folder} is accessible to other users (mode ${folderMode.toString(8)})`,
      shellCommand`Run: chmod 700 ${folder}`,
    );
  }
  return ok(`${file}, readable only by you`);
}

/** Returns the permission bits; undefined if the file does not exist. */
async function modeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).mode & 0o777;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw error;
  }
}

/** Writes in the folder, or checks whether it could be created. */
async function checkFolder(folder: string, purpose: "settings" | "data"): Promise<Finding> {
  const variable = purpose === "settings" ? "SERVICE_CONFIG_DIR" : "XDG_DATA_HOME";
  try {
    if ((await modeOf(folder)) === undefined) {
      await access(await nearestFolder(folder), constants.W_OK | constants.X_OK);
      return ok(`${folder} can be created`);
    }
    await rmdir(await mkdtemp(join(folder, ".doctor-")));
    return ok(`${folder} is writable`);
  } catch (error) {
    return failed(
      `Cannot write to ${folder} (${(error as NodeJS.ErrnoException).code})`,
      `Check its owner and free space: ls -ld ${folder}; df ${folder}. Or set ${variable} to another folder.`,
    );
  }
}

async function nearestFolder(path: string): Promise<string> {
  const parent = dirname(path);
  return parent === path || (await modeOf(parent)) !== undefined ? parent : await nearestFolder(parent);
}

const NEED_SQLITE = "dev, demo, serve, db and faults check";

/** Who uses a platform on another machine needs no SQLite. */
async function checkSqlite({ env, projectFolder }: Context): Promise<Finding> {
  const { sqliteVersion } = await import("../../database/driver.ts");
  try {
    return ok(`${await sqliteVersion(env)}, for the commands ${NEED_SQLITE}`);
  } catch (error) {
    const { projectWithPlatform } = await import("../../project/platform.ts");
    const isNeeded = projectWithPlatform(projectFolder) !== undefined;
    return (isNeeded ? failed : warning)(
      (error as Error).message,
      `Only ${NEED_SQLITE} need SQLite, and tests with service-cli/testing. Use Node.js 22.13 or later, or run \`service db install-driver\`.`,
    );
  }
}

/** The other checks skip a project file that they cannot read. */
async function checkProject({ projectFolder }: Context): Promise<Finding> {
  const { ProjectFileError, readProject } = await import("../../project/read.ts");
  const path = join(projectFolder, PROJECT_FILE);
  try {
    return ok(readProject(projectFolder) === undefined ? `${path} is not one of \`service dev\`` : path);
  } catch (error) {
    if (!(error instanceof ProjectFileError)) throw error;
    const errors = (error.hint ?? error.message).split("\n").join("; ");
    return failed(errors, shellCommand`Correct ${path}, or run \`service dev init --force\` to write it again.`);
  }
}

async function checkProxy(context: Context, timeoutMs: number): Promise<Finding> {
  const settings = proxiesOf(context);
  const named = PROXY_VARIABLES.flatMap((name) => (settings[name] ? [[name, settings[name]] as const] : []));
  if (named.length === 0) return ok("not configured");
  for (const [name, value] of named) {
    // Throws if the address cannot be a proxy's.
    const proxy = parseProxy(name, value);
    if ((await acceptsConnections(addressOf(proxy), timeoutMs)) !== true) {
      return failed(
        `${name.toUpperCase()}: cannot reach ${proxy.host}`,
        "Correct the variable, or add the platform's host to NO_PROXY.",
      );
    }
  }
  const { globals, env, settings: stored } = context;
  const { baseUrl } = resolveTarget({ flags: globals, env, settings: stored, project: await context.project() });
  const used = proxyFor(new URL(baseUrl.value), settings);
  const names = named.map(([name]) => name.toUpperCase()).join(" and ");
  return ok(
    `${names} set and reachable; ${new URL(baseUrl.value).host} is reached ${used === undefined ? "directly" : `through ${used.host}`}`,
  );
}
