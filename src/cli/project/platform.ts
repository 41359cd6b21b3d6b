import { resolve } from "node:path";
import { withoutTrailingSlashes } from "../../client/base-url.ts";
import { parseUrl } from "../../network/parse-url.ts";
import type { ProjectPlatform } from "../settings/connection.ts";
import { outsideOf, readRegularFile } from "./files.ts";
import { readProject } from "./read.ts";
import { type Project, PROJECT_DEFAULTS } from "./schema.ts";

/** Returns the platform that the project file of a folder names, if there is such a file. Throws ProjectFileError. */
export function findProjectPlatform(folder: string): ProjectPlatform | undefined {
  const found = readProject(folder, "platform");
  if (found === undefined) return undefined;
  const { platform } = found.project;
  if (platform?.url !== undefined) return { folder, baseUrl: withoutTrailingSlashes(platform.url), keys: undefined };
  const baseUrl = `http://127.0.0.1:${platform?.port ?? PROJECT_DEFAULTS.port}`;
  const keys = readKeys(databaseOf(found.project, folder), { folder, baseUrl });
  // Without the section, it is not known whether `service dev` starts a platform here.
  if (platform === undefined && keys === undefined) return undefined;
  return { folder, baseUrl, keys };
}

/** Returns the path of the database of the platform that `service dev` starts. */
export function databaseOf({ platform }: Project, folder: string): string {
  return resolve(folder, platform?.database ?? PROJECT_DEFAULTS.database);
}

const MAX_KEYS_BYTES = 64 * 1024;

/**
 * `service serve` writes the first keys of a database to a file beside it, with the URL that serves them. A link to the
 * keys of another platform, or another program at the URL of the project file, must not get them.
 */
function readKeys(database: string, own: { folder: string; baseUrl: string }): ProjectPlatform["keys"] {
  const file = `${database}.credentials`;
  try {
    if (outsideOf(own.folder, file) !== undefined) return undefined;
    const text = readRegularFile(file, MAX_KEYS_BYTES).toString("utf8");
    const { base_url: url, sandbox_key: sandbox, live_key: live } = JSON.parse(text) as Record<string, unknown>;
    if (typeof url !== "string" || parseUrl(url)?.origin !== own.baseUrl) return undefined;
    return typeof sandbox === "string" && typeof live === "string" ? { sandbox, live, file } : undefined;
  } catch {
    return undefined;
  }
}
