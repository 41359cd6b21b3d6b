import { existsSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { withoutTrailingSlashes } from "../../client/base-url.ts";
import { createFolder } from "../../files/folders.ts";
import { parseUrl } from "../../network/parse-url.ts";
import { acceptsConnections } from "../../network/port-probe.ts";
import { EXIT_CODES, UserError } from "../errors.ts";
import type { ProjectPlatform } from "../settings/connection.ts";
import { PROJECT_DEFAULTS, PROJECT_FILE } from "./file.ts";
import { outsideOf, readRegularFile } from "./safe-files.ts";
import { isPort, readProject } from "./read.ts";
import type { Project } from "./schema.ts";

/** The folder of files that belong to one machine, in the project's. */
export const OWN_FOLDER = ".service";

/**
 * Returns the platform that the project file of a folder names, if there is such a file. Throws ProjectFileError, and
 * UserError if its port is chosen at its first start, which has not happened yet.
 */
export function findProjectPlatform(folder: string): ProjectPlatform | undefined {
  const found = readProject(folder, "platform");
  if (found === undefined) return undefined;
  const { platform } = found.project;
  if (platform?.url !== undefined) {
    const { origin } = new URL(platform.url);
    return { folder, baseUrl: withoutTrailingSlashes(platform.url), trustName: origin, keys: undefined };
  }
  const port = portOf(found.project, folder);
  if (port === undefined) {
    throw new UserError(`The platform of ${PROJECT_FILE} has not been started yet`, {
      hint: "To start it: service dev",
      exitCode: EXIT_CODES.unreachable,
      code: "unreachable",
    });
  }
  const baseUrl = `http://127.0.0.1:${port}`;
  const keys = readKeys(databaseOf(found.project, folder), { folder, baseUrl });
  // Without the section, it is not known whether `service dev` starts a platform here.
  if (platform === undefined && keys === undefined) return undefined;
  return { folder, baseUrl, trustName: platform?.port === "auto" ? "auto" : baseUrl, keys };
}

/**
 * Returns the project of a folder if its file describes a platform that runs here: with that section, or with a database
 * of `service dev`. Throws ProjectFileError.
 */
export function projectWithPlatform(folder: string): Project | undefined {
  const { project } = readProject(folder, "platform") ?? {};
  if (project === undefined || project.platform?.url !== undefined) return undefined;
  return project.platform !== undefined || existsSync(databaseOf(project, folder)) ? project : undefined;
}

/** Returns the path of the database of the platform that `service dev` starts. */
export function databaseOf({ platform }: Project, folder: string): string {
  return resolve(folder, platform?.database ?? PROJECT_DEFAULTS.database);
}

const PORT_FILE = join(OWN_FOLDER, "port");
const MAX_PORT_BYTES = 8 * 1024;
const PROBE_MS = 500;

/** Returns the port of the platform that `service dev` starts; undefined if it is `auto` and not chosen yet. */
function portOf({ platform }: Project, folder: string): number | undefined {
  const { port = PROJECT_DEFAULTS.port } = platform ?? {};
  if (port !== "auto") return port;
  try {
    if (outsideOf(folder, PORT_FILE) !== undefined) return undefined;
    const [chosen, owner] = readRegularFile(join(folder, PORT_FILE), MAX_PORT_BYTES).toString("utf8").split("\n");
    // A copy of the folder would otherwise use the platform of the original.
    return isPort(Number(chosen)) && owner === realpathSync(folder) ? Number(chosen) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the port to start a platform at: 0, a free one, if it is `auto` and the stored port is in use or missing. */
export async function startPortOf(project: Project, folder: string): Promise<number> {
  const port = portOf(project, folder);
  if (port === undefined || project.platform?.port !== "auto") return port ?? 0;
  return (await acceptsConnections({ host: "127.0.0.1", port }, PROBE_MS)) === true ? 0 : port;
}

/** Stores the port of a platform whose port is `auto`, for its next start and for commands in the folder. */
export function keepPort(project: Project, baseUrl: string, folder: string): void {
  const { port } = new URL(baseUrl);
  if (project.platform?.port !== "auto" || portOf(project, folder) === Number(port)) return;
  const file = join(folder, PORT_FILE);
  if (outsideOf(folder, file) !== undefined) return;
  createFolder(dirname(file));
  writeFileSync(file, `${port}\n${realpathSync(folder)}\n`);
}

const MAX_KEYS_BYTES = 64 * 1024;

/**
 * `service serve` writes the first keys of a database to a file next to it, with the URL that serves them. A link to
 * keys of another platform, or another program at the URL of the project file, must not get them.
 */
function readKeys(database: string, own: { folder: string; baseUrl: string }): ProjectPlatform["keys"] {
  const file = `${database}.credentials`;
  const { base_url: url, sandbox_key: sandbox, live_key: live } = readCredentials(file, own.folder);
  if (typeof url !== "string" || parseUrl(url)?.origin !== own.baseUrl) return undefined;
  return typeof sandbox === "string" && typeof live === "string" ? { sandbox, live, file } : undefined;
}

function readCredentials(file: string, folder: string): Record<string, unknown> {
  try {
    if (outsideOf(folder, file) !== undefined) return {};
    return JSON.parse(readRegularFile(file, MAX_KEYS_BYTES).toString("utf8")) as Record<string, unknown>;
  } catch {
    return {};
  }
}

/** Returns the address at which the database of a project was last served; undefined if that is not known. */
export function servedAt(database: string, folder: string): string | undefined {
  const { base_url: url } = readCredentials(`${database}.credentials`, folder);
  return typeof url === "string" ? parseUrl(url)?.origin : undefined;
}
