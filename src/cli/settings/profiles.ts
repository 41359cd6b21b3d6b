import type { Environment } from "../../contract/environments.ts";
import type { Scope } from "../../contract/scopes.ts";

/** An API key; it stays as it is until it is revoked. */
interface StoredApiKey {
  type: "api_key";
  api_key: string;
}

/** A session that `service login` began in a browser; its tokens renew themselves. */
export interface StoredTokens {
  type: "oauth";
  access_token: string;
  refresh_token: string;
  /** When the access token ends: `YYYY-MM-DDTHH:MM:SSZ` by this machine's clock. */
  expires_at: string;
  scopes: readonly Scope[];
}

/** A credential that `service login` stored, for one environment of one profile. */
export type StoredCredential = StoredApiKey | StoredTokens;

/** One platform and account. Its credentials go to the origins of `base_url` and `auth_url` and nowhere else. */
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
  /** False where nobody wants to hear of newer versions. */
  update_notices?: boolean;
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

/** The settings with one profile replaced, or added. */
export function withProfile(settings: Settings, name: string, profile: Profile): Settings {
  return { ...settings, profiles: { ...settings.profiles, [name]: profile } };
}

/** What to type to sign in again as a profile, for an environment: `service login --profile shop --live`. */
export function loginCommand({ profile, environment }: { profile: string; environment: Environment }): string {
  const flags = [
    ...(profile === DEFAULT_PROFILE ? [] : [`--profile ${profile}`]),
    ...(environment === "live" ? ["--live"] : []),
  ];
  return ["service login", ...flags].join(" ");
}
