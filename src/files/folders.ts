import { existsSync, mkdirSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

/**
 * Creates a folder that only its owner may enter, with missing parents. Throws the file system's error. Node's own
 * recursive option never returns if a file system such as /proc denies that a folder's parent exists.
 */
export function createFolder(path: string): void {
  if (isFolder(path)) return;
  const parent = dirname(path);
  if (parent !== path && !existsSync(parent)) createFolder(parent);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have created it first.
    if (!isFolder(path)) throw error;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

type Variables = Readonly<Record<string, string | undefined>>;

/** Returns the user's home folder; undefined for a user ID without an account, as in some containers. */
export function homeFolder(env: Variables): string | undefined {
  try {
    return env["HOME"] || homedir() || undefined;
  } catch {
    return undefined;
  }
}

/** Returns the folder of the platform's data unless a database is named; undefined without a home folder. */
export function dataFolder(env: Variables): string | undefined {
  const home = homeFolder(env);
  const data = env["XDG_DATA_HOME"] || (home && join(home, ".local", "share"));
  return data && join(data, "service");
}
