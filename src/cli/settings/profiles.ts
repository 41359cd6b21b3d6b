import type { Environment } from "../../contract/environments.ts";

/** A credential that `service login` stored, for one environment of one profile. */
export interface StoredApiKey {
  type: "api_key";
  api_key: string;
}

export type StoredCredential = StoredApiKey;

/** One platform and account. Its credentials go to the origin of `base_url` and nowhere else. */
export interface Profile {
  base_url: string;
  auth_url: string;
  account?: { id: string; name: string };
  credentials: Partial<Record<Environment, StoredCredential>>;
}

/** What the settings file holds. Members of other names are kept as they are. */
export interface Settings {
  version: typeof SETTINGS_VERSION;
  current_profile: string;
  profiles: Record<string, Profile>;
}

export const SETTINGS_VERSION = 1;
export const DEFAULT_PROFILE = "default";
export const PROFILE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

export function emptySettings(): Settings {
  return { version: SETTINGS_VERSION, current_profile: DEFAULT_PROFILE, profiles: {} };
}

/** The stored profile of a name; a name such as `constructor` finds nothing that nobody stored. */
export function profileNamed(settings: Settings, name: string): Profile | undefined {
  return Object.hasOwn(settings.profiles, name) ? settings.profiles[name] : undefined;
}
