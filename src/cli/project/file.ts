import { statSync } from "node:fs";
import { dirname, join } from "node:path";

export const PROJECT_FILE = "service.yaml";

/**
 * Returns the folder of the project that a folder belongs to: the nearest one, from this folder upward, with a project
 * file; the folder itself if there is none. Above it, a file of another user does not count.
 */
export function projectFolderOf(folder: string): string {
  const own = process.getuid?.();
  for (let at = folder; ; at = dirname(at)) {
    const owner = statSync(join(at, PROJECT_FILE), { throwIfNoEntry: false })?.uid;
    if (owner !== undefined && (at === folder || own === undefined || owner === own)) return at;
    if (dirname(at) === at) return folder;
  }
}

/** Defaults of the project file, apart from its large schema, which only reading the file needs. */
export const PROJECT_DEFAULTS = {
  port: 4010,
  database: ".service/platform.db",
  secret: "SERVICE_WEBHOOK_SECRET",
  key: "SERVICE_API_KEY",
  url: "SERVICE_BASE_URL",
  retries: 3,
} as const;
