import { homedir } from "node:os";
import { join } from "node:path";
import { UserError } from "../errors.ts";

/** Name of the settings file inside its folder. */
export const SETTINGS_FILE = "config.json";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The folder of settings and credentials: SERVICE_CONFIG_DIR, else the XDG configuration folder (APPDATA on Windows).
 * Throws UserError where the account has no home folder at all.
 */
export function settingsDirectory(env: Environment, platform: NodeJS.Platform): string {
  if (env["SERVICE_CONFIG_DIR"]) return env["SERVICE_CONFIG_DIR"];
  if (platform === "win32" && env["APPDATA"]) return join(env["APPDATA"], "service");
  const base = env["XDG_CONFIG_HOME"] || join(home(env), ".config");
  return join(base, "service");
}

function home(env: Environment): string {
  try {
    const home = env["HOME"] || homedir();
    if (home !== "") return home;
  } catch {
    // A user id without an account, as in some containers.
  }
  throw new UserError("No home folder for the settings", {
    hint: "Set SERVICE_CONFIG_DIR to a folder.",
    code: "no_home",
  });
}
