import { homedir } from "node:os";
import { join } from "node:path";

/** Returns the folder of the platform's data unless a database is named. */
export function dataFolder(env: Readonly<Record<string, string | undefined>>): string {
  const data = env["XDG_DATA_HOME"] || join(env["HOME"] || homedir(), ".local", "share");
  return join(data, "service");
}
