import { parseBaseUrl } from "../../../client/base-url.ts";
import type { Context } from "../../context.ts";
import { UsageError, UserError } from "../../errors.ts";
import { DEFAULT_BASE_URL, resolveTarget } from "../../settings/connection.ts";
import { DEFAULT_PROFILE, type Profile, profileNamed, type Settings, withProfile } from "../../settings/profiles.ts";
import { updateNotices } from "../../settings/update-notices.ts";

/** The value in effect, and what it comes from: `--base-url`, `SERVICE_BASE_URL`, `profile shop`, `default`. */
interface Effective {
  value: string | boolean;
  source: string;
}

/** A setting that `service config` shows and changes. None of them is a secret. */
export interface ConfigKey {
  meaning: string;
  /** For completion. */
  values?: readonly string[];
  effective(context: Context): Effective;
  /** Puts a value into the settings, or the default where there is none. Throws UserError for one that cannot be. */
  store(text: string | undefined, settings: Settings, context: Context): Settings;
}

/** Every setting, in the order in which they are listed. */
export const CONFIG_KEYS: Readonly<Record<string, ConfigKey>> = {
  profile: {
    meaning: "Profile used by default",
    effective: (context) => fromPlace(context, "profile"),
    store(text = DEFAULT_PROFILE, settings) {
      if (text !== DEFAULT_PROFILE && profileNamed(settings, text) === undefined) {
        const names = Object.keys(settings.profiles);
        throw new UserError(`Profile "${text}" does not exist`, {
          hint:
            names.length === 0
              ? "No profiles are stored yet. To create one: service login"
              : `Profiles: ${names.join(", ")}.`,
          code: "no_profile",
        });
      }
      return { ...settings, current_profile: text };
    },
  },
  base_url: {
    meaning: "URL of the profile's API",
    effective: (context) => fromPlace(context, "baseUrl"),
    store: (text = DEFAULT_BASE_URL, settings, context) =>
      changeProfile(settings, context, (profile) => {
        const base_url = address(text, context);
        // Usually one server is both.
        return profile.auth_url === profile.base_url ? { base_url, auth_url: base_url } : { base_url };
      }),
  },
  auth_url: {
    meaning: "URL of the profile's OAuth server",
    effective: (context) => fromPlace(context, "authUrl"),
    store: (text, settings, context) =>
      changeProfile(settings, context, ({ base_url }) => ({
        auth_url: text === undefined ? base_url : address(text, context),
      })),
  },
  update_notices: {
    meaning: "Whether to show a notice about newer versions, at most daily",
    values: ["true", "false"],
    effective: ({ env, settings }) => updateNotices(env, settings),
    store(text, settings) {
      const { update_notices: _, ...rest } = settings;
      return text === undefined ? rest : { ...rest, update_notices: parseBoolean(text) };
    },
  },
};

function fromPlace({ globals, env, settings }: Context, member: "profile" | "baseUrl" | "authUrl"): Effective {
  const { value, name } = resolveTarget({ flags: globals, env, settings })[member];
  return { value, source: name };
}

function address(text: string, { globals: { insecure } }: Context): string {
  return parseBaseUrl(text, { insecure }).href.replace(/\/$/, "");
}

function parseBoolean(text: string): boolean {
  if (text === "true" || text === "false") return text === "true";
  throw new UsageError(`Must be true or false, not "${text}"`);
}

/** Stored credentials go to the addresses that they were stored with: those stay as long as the credentials do. */
function changeProfile(
  settings: Settings,
  { globals, env }: Context,
  change: (profile: Profile) => Partial<Pick<Profile, "base_url" | "auth_url">>,
): Settings {
  const name = resolveTarget({ flags: globals, env, settings }).profile.value;
  const before: Profile = profileNamed(settings, name) ?? {
    base_url: DEFAULT_BASE_URL,
    auth_url: DEFAULT_BASE_URL,
    credentials: {},
  };
  const after = { ...before, ...change(before) };
  const isSame = after.base_url === before.base_url && after.auth_url === before.auth_url;
  if (!isSame && Object.keys(before.credentials).length > 0) {
    const flag = name === DEFAULT_PROFILE ? "" : ` --profile ${name}`;
    throw new UserError(`Cannot change the URL: profile "${name}" is signed in to ${before.base_url}`, {
      hint: `To keep both, use another profile: service login --profile NAME --base-url ${after.base_url}. Or sign out first: service logout${flag}`,
      code: "profile_in_use",
    });
  }
  return withProfile(settings, name, after);
}
