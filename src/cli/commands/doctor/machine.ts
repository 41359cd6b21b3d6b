import { constants } from "node:fs";
import { access, mkdtemp, rmdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { parseProxy, proxyFor } from "../../../client/proxy-settings.ts";
import { proxiesOf } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { isOpenToOthers } from "../../file-mode.ts";
import { resolvePlace } from "../../settings/connection.ts";
import { SETTINGS_FILE } from "../../settings/directory.ts";
import { readSettings } from "../../settings/read.ts";
import { dataFolder } from "../serve/named-database.ts";
import { type Check, failed, type Finding, ok, warning } from "./finding.ts";
import { canConnect } from "./ports.ts";

const OLDEST_NODE = [20, 19] as const;
const PROXY_VARIABLES = ["http_proxy", "https_proxy"] as const;

/** What concerns this machine alone. */
export function machineChecks(context: Context, patience: number): Check[] {
  return [
    { id: "node", title: "Node.js", look: () => checkNode(context) },
    { id: "settings_file", title: "Settings file", look: () => checkSettings(context) },
    { id: "settings_folder", title: "Settings folder", look: () => checkFolder(context.settingsDirectory, "settings") },
    { id: "data_folder", title: "Data folder", look: () => checkFolder(dataFolder(context), "data") },
    { id: "sqlite", title: "SQLite", look: checkSqlite },
    { id: "proxy", title: "Proxy", look: () => checkProxy(context, patience) },
  ];
}

function checkNode({ platform }: Context): Finding {
  const { node } = process.versions;
  const [major = 0, minor = 0] = node.split(".").map(Number);
  const isNew = major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1]);
  const detail = `${node} on ${platform}-${process.arch}`;
  return isNew ? ok(detail) : failed(detail, `Install Node.js ${OLDEST_NODE.join(".")} or later: https://nodejs.org`);
}

async function checkSettings({ settingsDirectory: folder, platform }: Context): Promise<Finding> {
  const file = join(folder, SETTINGS_FILE);
  // Throws where it is damaged.
  readSettings(folder);
  const [fileMode, folderMode] = await Promise.all([modeOf(file), modeOf(folder)]);
  if (fileMode === undefined) return ok(`none yet; \`service login\` makes ${file}`);
  if (isOpenToOthers(fileMode, platform)) {
    return warning(
      `${file} can be read by other users (mode ${fileMode.toString(8)})`,
      `Close it: chmod 600 ${file}, and roll its keys where others may have looked.`,
    );
  }
  if (folderMode !== undefined && isOpenToOthers(folderMode, platform)) {
    return warning(
      `${folder} can be entered by other users (mode ${folderMode.toString(8)})`,
      `Close it: chmod 700 ${folder}`,
    );
  }
  return ok(`${file}, for you alone`);
}

/** The permission bits; undefined where there is nothing. */
async function modeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).mode & 0o777;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw error;
  }
}

/** Writes in the folder, or sees whether it could be made. */
async function checkFolder(folder: string, purpose: "settings" | "data"): Promise<Finding> {
  const variable = purpose === "settings" ? "SERVICE_CONFIG_DIR" : "XDG_DATA_HOME";
  try {
    if ((await modeOf(folder)) === undefined) {
      await access(await nearestFolder(folder), constants.W_OK | constants.X_OK);
      return ok(`${folder} can be made`);
    }
    await rmdir(await mkdtemp(join(folder, ".doctor-")));
    return ok(`${folder} can be written`);
  } catch (error) {
    return failed(
      `${folder} cannot be written (${(error as NodeJS.ErrnoException).code})`,
      `Check its owner and space: ls -ld ${folder}; df ${folder}. Or name another with ${variable}.`,
    );
  }
}

async function nearestFolder(path: string): Promise<string> {
  const parent = dirname(path);
  return parent === path || (await modeOf(parent)) !== undefined ? parent : await nearestFolder(parent);
}

async function checkSqlite(): Promise<Finding> {
  const { sqliteVersion } = await import("../serve/sqlite-version.ts");
  try {
    return ok(`${await sqliteVersion()}; \`service serve\` can store its data`);
  } catch (error) {
    return failed(
      (error as Error).message,
      "Only `service serve` and `demo` need it. Use Node.js 22.13 or later, or install again with optional dependencies.",
    );
  }
}

async function checkProxy(context: Context, patience: number): Promise<Finding> {
  const settings = proxiesOf(context);
  const named = PROXY_VARIABLES.flatMap((name) => (settings[name] ? [[name, settings[name]] as const] : []));
  if (named.length === 0) return ok("none is set");
  for (const [name, value] of named) {
    // Throws where it is not the address of a proxy.
    const proxy = parseProxy(name, value);
    if (!(await canConnect(proxy, patience))) {
      return failed(
        `${name.toUpperCase()}: ${proxy.host} cannot be reached`,
        "Correct it, or list the platform's host in NO_PROXY.",
      );
    }
  }
  const { baseUrl } = resolvePlace({ flags: context.globals, env: context.env, settings: context.settings });
  const used = proxyFor(new URL(baseUrl.value), settings);
  const names = named.map(([name]) => name.toUpperCase()).join(" and ");
  return ok(
    `${names} set and reachable; ${new URL(baseUrl.value).host} is reached ${used === undefined ? "without it" : `through ${used.host}`}`,
  );
}
