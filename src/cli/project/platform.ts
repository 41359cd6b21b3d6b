import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { withoutTrailingSlashes } from "../../client/base-url.ts";
import type { ProjectPlatform } from "../settings/connection.ts";
import { readProject } from "./read.ts";
import { type Project, PROJECT_DEFAULTS } from "./schema.ts";

/** Returns the platform that the project file of a folder names, if there is such a file. Throws ProjectFileError. */
export function findProjectPlatform(folder: string): ProjectPlatform | undefined {
  const found = readProject(folder, "platform");
  if (found === undefined) return undefined;
  const { platform } = found.project;
  if (platform?.url !== undefined) return { baseUrl: withoutTrailingSlashes(platform.url), keys: undefined };
  const keys = readKeys(databaseOf(found.project, folder));
  // Without the section, it is not known whether `service dev` starts a platform here.
  if (platform === undefined && keys === undefined) return undefined;
  return { baseUrl: `http://127.0.0.1:${platform?.port ?? PROJECT_DEFAULTS.port}`, keys };
}

/** Returns the path of the database of the platform that `service dev` starts. */
export function databaseOf({ platform }: Project, folder: string): string {
  return resolve(folder, platform?.database ?? PROJECT_DEFAULTS.database);
}

/** `service serve` writes the first keys of a database to a file beside it. */
function readKeys(database: string): ProjectPlatform["keys"] {
  const file = `${database}.credentials`;
  try {
    const { sandbox_key: sandbox, live_key: live } = JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;
    return typeof sandbox === "string" && typeof live === "string" ? { sandbox, live, file } : undefined;
  } catch {
    return undefined;
  }
}
