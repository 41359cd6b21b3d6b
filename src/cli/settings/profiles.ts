import { realpathSync } from "node:fs";
import type { Environment } from "../../contract/environments.ts";
import { EXIT_CODES, UserError } from "../errors.ts";
import { shellCommand } from "../../contract/shell-command.ts";
import type { Scope } from "../../contract/scopes.ts";

/** An API key, valid until it is revoked or expires. */
interface StoredApiKey {
  type: "api_key";
  api_key: string;
}

/** A session that `service login` began in a browser. Its tokens renew themselves. */
export interface StoredTokens {
  type: "oauth";
  access_token: string;
  refresh_token: string;
  /** When the access token expires: `YYYY-MM-DDTHH:MM:SSZ` by this machine's clock. */
  expires_at: string;
  scopes: readonly Scope[];
}

/** A credential that `service login` stored, for one environment of one profile. */
export type StoredCredential = StoredApiKey | StoredTokens;

/** One platform and account. Its credentials are sent to the origins of `base_url` and `auth_url` only. */
export interface Profile {
  base_url: string;
  auth_url: string;
  account?: { id: string; name: string };
  credentials: Partial<Record<Environment, StoredCredential>>;
}

/** Origins that only a project file names, and that the user allowed. */
export interface ProjectTrust {
  /** Receives the user's key; `auto` is the one that `service dev` starts at a port that it chooses. */
  platform: string | null;
  /** Receive events. */
  receivers: readonly string[];
}

/** The content of the settings file. Unknown members stay as they are. */
export interface Settings {
  version: typeof SETTINGS_VERSION;
  current_profile: string;
  profiles: Record<string, Profile>;
  /** False to disable notices of newer versions. */
  update_notices?: boolean;
  /** What the user allows the project files of folders. */
  trusted_projects?: Record<string, ProjectTrust>;
}

export const SETTINGS_VERSION = 1;
export const DEFAULT_PROFILE = "default";
export const PROFILE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

export function emptySettings(): Settings {
  return { version: SETTINGS_VERSION, current_profile: DEFAULT_PROFILE, profiles: {} };
}

/** Returns the stored profile of a name. Inherited names such as `constructor` find nothing. */
export function profileNamed(settings: Settings, name: string): Profile | undefined {
  return Object.hasOwn(settings.profiles, name) ? settings.profiles[name] : undefined;
}

/** Returns the stored profile of a name. Throws UserError if there is none. */
export function requireProfile(settings: Settings, name: string): Profile {
  const profile = profileNamed(settings, name);
  if (profile !== undefined) return profile;
  const names = Object.keys(settings.profiles);
  throw new UserError(`Profile "${name}" does not exist`, {
    hint:
      names.length === 0
        ? "No profiles are stored yet. To create one: service login"
        : `Profiles: ${names.join(", ")}.`,
    exitCode: EXIT_CODES.notFound,
    code: "no_profile",
  });
}

/** Returns the settings with one profile replaced or added. */
export function withProfile(settings: Settings, name: string, profile: Profile): Settings {
  return { ...settings, profiles: { ...settings.profiles, [name]: profile } };
}

/**
 * Returns the command to sign in again as a profile, for an environment: `service login --profile shop --live`. It names
 * a URL that only a flag named.
 */
export function loginCommand({ profile, environment, baseUrl }: LoginOptions): string {
  const flags = [
    ...(baseUrl?.source === "flag" ? [shellCommand`--base-url ${baseUrl.value}`] : []),
    ...(profile === DEFAULT_PROFILE ? [] : [`--profile ${profile}`]),
    ...(environment === "live" ? ["--live"] : []),
  ];
  return ["service login", ...flags].join(" ");
}

interface LoginOptions {
  profile: string;
  environment: Environment;
  baseUrl?: { value: string; source: string };
}

/** A token is renewed this long before it expires, so that it does not expire while a request is in flight. */
const EARLY_MILLISECONDS = 60_000;

/** Returns true if the access token should be renewed before it is sent. `now` is in Unix milliseconds. */
export function isDue({ expires_at }: StoredTokens, now: number): boolean {
  return !(Date.parse(expires_at) - now > EARLY_MILLISECONDS);
}

/** Returns true if the platform would still accept the access token. */
export function isAlive({ expires_at }: StoredTokens, now: number): boolean {
  return Date.parse(expires_at) > now;
}

/** Returns what the user allows the project file of a folder. */
export function trustIn({ trusted_projects: all = {} }: Settings, folder: string): ProjectTrust {
  const name = realpathSync(folder);
  return Object.hasOwn(all, name) ? all[name]! : { platform: null, receivers: [] };
}

/** Returns the settings with what the user allows the project file of a folder. */
export function withTrust(settings: Settings, folder: string, trust: ProjectTrust): Settings {
  return { ...settings, trusted_projects: { ...settings.trusted_projects, [realpathSync(folder)]: trust } };
}
