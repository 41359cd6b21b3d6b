import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { LIMITS } from "../../contract/limits.ts";
import { isRecord } from "../../contract/json.ts";
import { shellCommand } from "../../contract/shell-command.ts";
import { dataFolder, homeFolder } from "../../files/folders.ts";
import { UserError } from "../errors.ts";
import { DEFAULT_PROFILE, emptySettings, type Profile, type Settings, SETTINGS_VERSION } from "./profiles.ts";

/** The settings file cannot be used. It stays as it is. */
export class SettingsFileError extends UserError {
  override name = "SettingsFileError";

  constructor(message: string, hint: string, cause?: unknown) {
    super(message, { hint, code: "settings_file", cause });
  }
}

/**
 * Reads the settings. No file means empty settings. An invalid one is an error and stays as it is.
 */
export function readSettings(directory: string): Settings {
  const path = join(directory, SETTINGS_FILE);
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return emptySettings();
    if (code === "EISDIR") {
      throw new SettingsFileError(
        `${path} is a folder, not a file`,
        shellCommand`Move it away: mv ${path} ${`${path}.old`}`,
        error,
      );
    }
    throw new SettingsFileError(`Cannot read ${path} (${code})`, shellCommand`Check its owner: ls -l ${path}`, error);
  }
  return parseSettings(text, path);
}

/** Returns the settings of this user; empty ones without a home folder. Warns of a file that other users can read. */
export function storedSettings(env: Variables, platform: NodeJS.Platform, warn: (text: string) => void): Settings {
  let directory: string;
  try {
    directory = settingsDirectory(env, platform);
  } catch {
    // Nothing can be stored, but variables and flags still work.
    return emptySettings();
  }
  const settings = readSettings(directory);
  const file = join(directory, SETTINGS_FILE);
  if (isReadableByOthers(file, platform)) {
    warn(
      `${file} is readable by other users. Run: ${shellCommand`chmod 600 ${file}`}. If others may have read it, rotate its keys.`,
    );
  }
  return settings;
}

function isReadableByOthers(file: string, platform: NodeJS.Platform): boolean {
  try {
    return isOpenToOthers(statSync(file).mode, platform);
  } catch {
    // If there is no file, nobody can read it.
    return false;
  }
}

function parseSettings(text: string, path: string): Settings {
  const recovery = shellCommand`It may still contain your keys. Move it away and sign in again: mv ${path} ${`${path}.broken`} && service login`;
  if (text.trim() === "") {
    throw new SettingsFileError(
      `${path} is empty`,
      shellCommand`Remove it and sign in again: rm ${path} && service login`,
    );
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new SettingsFileError(`${path} is corrupt: ${(error as Error).message}`, recovery, error);
  }
  if (!isRecord(value)) throw new SettingsFileError(`${path} does not contain a JSON object`, recovery);
  const {
    version = SETTINGS_VERSION,
    profiles = {},
    current_profile: current = DEFAULT_PROFILE,
    trusted_projects: trusted = {},
  } = value;
  if (typeof version !== "number") throw new SettingsFileError(`${path} has an invalid version`, recovery);
  if (version > SETTINGS_VERSION) {
    throw new SettingsFileError(
      `${path} was written by a newer version of the CLI (format ${version})`,
      "Update the CLI, or set SERVICE_CONFIG_DIR to another folder.",
    );
  }
  if (!isRecord(profiles) || !Object.values(profiles).every(isProfile)) {
    throw new SettingsFileError(`${path} contains an invalid profile`, recovery);
  }
  if (
    !isRecord(trusted) ||
    !Object.values(trusted).every((trust) => isRecord(trust) && Array.isArray(trust["receivers"]))
  ) {
    throw new SettingsFileError(`${path} has invalid trusted_projects`, recovery);
  }
  if (typeof current !== "string") {
    throw new SettingsFileError(`${path} has an invalid current_profile`, recovery);
  }
  return {
    ...emptySettings(),
    ...value,
    current_profile: current,
    profiles: Object.fromEntries(
      Object.entries(profiles as Record<string, StoredProfile>).map(([name, profile]) => [name, wholeProfile(profile)]),
    ),
  };
}

/** The raw form, since the file may have been edited manually. */
type StoredProfile = Pick<Profile, "base_url"> & Partial<Profile>;

function isProfile(value: unknown): value is StoredProfile {
  if (!isRecord(value)) return false;
  const { base_url, auth_url = "", credentials = {} } = value;
  return (
    isAddress(base_url) && isAddress(auth_url) && isRecord(credentials) && Object.values(credentials).every(isRecord)
  );
}

function isAddress(value: unknown): value is string {
  return typeof value === "string" && value.length <= LIMITS.baseUrlLength;
}

/** Usually one server is both. */
function wholeProfile(profile: StoredProfile): Profile {
  return { ...profile, auth_url: profile.auth_url || profile.base_url, credentials: profile.credentials ?? {} };
}

/** Name of the settings file inside its folder. */
export const SETTINGS_FILE = "config.json";

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * Returns the folder of settings and credentials: SERVICE_CONFIG_DIR, else the XDG configuration folder (APPDATA on
 * Windows). Throws UserError if the user has no home folder.
 */
export function settingsDirectory(env: Variables, platform: NodeJS.Platform): string {
  if (env["SERVICE_CONFIG_DIR"]) return env["SERVICE_CONFIG_DIR"];
  if (platform === "win32" && env["APPDATA"]) return join(env["APPDATA"], "service");
  const home = homeFolder(env);
  const base = env["XDG_CONFIG_HOME"] || (home && join(home, ".config"));
  if (base === undefined) throw noHome("settings", "SERVICE_CONFIG_DIR");
  return join(base, "service");
}

/** Returns the folder of the platform's data. Throws UserError if the user has no home folder. */
export function dataDirectory(env: Variables): string {
  const folder = dataFolder(env);
  if (folder === undefined) throw noHome("data", "XDG_DATA_HOME");
  return folder;
}

function noHome(purpose: string, variable: string): UserError {
  return new UserError(`No home folder for the ${purpose}`, { hint: `Set ${variable} to a folder.`, code: "no_home" });
}

/** Returns true if a file of this mode is accessible to other users. Windows has no such modes. */
export function isOpenToOthers(mode: number, platform: NodeJS.Platform): boolean {
  return platform !== "win32" && (mode & 0o077) !== 0;
}
