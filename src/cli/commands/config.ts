import { join } from "node:path";
import { parseBaseUrl } from "../../client/base-url.ts";
import { nearest } from "../../contract/nearest.ts";
import { DEFAULT_BASE_URL, shellCommand } from "../../contract/shell-command.ts";
import type { CommandDefinition, Operand } from "../command.ts";
import type { Context } from "../context.ts";
import { UsageError, UserError } from "../errors.ts";
import { resolveTarget } from "../settings/connection.ts";
import {
  DEFAULT_PROFILE,
  type Profile,
  profileNamed,
  requireProfile,
  type Settings,
  withProfile,
} from "../settings/profiles.ts";
import { SETTINGS_FILE } from "../settings/read.ts";
import type { ResourceView } from "../terminal/view.ts";
import { updateNotices } from "../update-notice.ts";

/** JSON of a setting. */
type Entry = Awaited<ReturnType<typeof entryOf>>;

const VIEW: ResourceView<Entry> = {
  noun: "setting",
  key: "key",
  fields: ["key", "value", "source", "meaning"],
  columns: [
    { label: "Setting", text: ({ key }) => key, style: "accent" },
    { label: "Value", text: ({ value }) => String(value) },
    { label: "Source", text: ({ source }) => source },
    { label: "Meaning", text: ({ meaning }) => meaning, style: "dim", optional: true },
  ],
};

/** Returns the effective value and its source: `--base-url`, `SERVICE_BASE_URL`, `profile shop`, `default`. */
interface Effective {
  value: string | boolean;
  source: string;
}

/** What decides a setting. */
type Sources = Pick<Context, "globals" | "env" | "settings" | "project">;

/** A setting that `service config` shows and changes. None of them is a secret. */
interface ConfigKey {
  meaning: string;
  /** Values for shell completion. */
  values?: readonly string[];
  effective(sources: Sources): Effective | Promise<Effective>;
  /** Sets a value in the settings, or resets it to the default. Throws UserError for an invalid value. */
  store(text: string | undefined, settings: Settings, context: Context): Settings;
}

/** Every setting, in the order in which they are listed. */
const CONFIG_KEYS: Readonly<Record<string, ConfigKey>> = {
  profile: {
    meaning: "Profile used by default",
    effective: (sources) => fromPlace(sources, "profile"),
    store(text = DEFAULT_PROFILE, settings) {
      if (text !== DEFAULT_PROFILE) requireProfile(settings, text);
      return { ...settings, current_profile: text };
    },
  },
  base_url: {
    meaning: "URL of the profile's API",
    effective: (sources) => fromPlace(sources, "baseUrl"),
    store: (text = DEFAULT_BASE_URL, settings, context) =>
      changeProfile(settings, context, (profile) => {
        const base_url = address(text, context);
        // Usually, the API and the authorization server have the same URL.
        return profile.auth_url === profile.base_url ? { base_url, auth_url: base_url } : { base_url };
      }),
  },
  auth_url: {
    meaning: "URL of the profile's OAuth server",
    effective: (sources) => fromPlace(sources, "authUrl"),
    store: (text, settings, context) =>
      changeProfile(settings, context, ({ base_url }) => ({
        auth_url: text === undefined ? base_url : address(text, context),
      })),
  },
  update_notices: {
    meaning: "Show a notice about newer versions, at most once a day",
    values: ["true", "false"],
    effective: ({ env, settings }) => updateNotices(env, settings),
    store(text, settings) {
      const { update_notices: _, ...rest } = settings;
      return text === undefined ? rest : { ...rest, update_notices: parseBoolean(text) };
    },
  },
};

/** The name of a setting, as an argument. */
const KEY: Operand = {
  arg: "<key>",
  about: `Setting: ${Object.keys(CONFIG_KEYS).join(", ")}`,
  suggest: () => Object.entries(CONFIG_KEYS).map(([value, { meaning }]) => ({ value, description: meaning })),
};

/** `service config`. */
export const command: CommandDefinition = {
  name: "config",
  about:
    "Manage settings. Precedence: flag, environment variable, service.yaml, profile, default. Credentials are managed by `service login` and `service logout`.",
  examples: [
    "service config list",
    "service config set base_url https://api.example.com --profile shop # For one profile only",
    "service config unset base_url # Back to the default",
  ],
  commands: [
    {
      name: "list",
      about: "List settings with their values and sources",
      fields: VIEW,
      examples: ["service config list --json --jq '.[] | select(.source != \"default\")' # Only changed settings"],
      run: runList,
    },
    {
      name: "get",
      about: "Print the value of a setting",
      args: [KEY],
      examples: ["service config get base_url"],
      run: runGet,
    },
    {
      name: "set",
      about: "Store a setting",
      args: [
        KEY,
        {
          arg: "<value>",
          about: "New value",
          suggest: ([key = ""]) => (CONFIG_KEYS[key]?.values ?? []).map((value) => ({ value, description: "" })),
        },
      ],
      examples: ["service config set base_url https://api.example.com", "service config set update_notices false "],
      run: (context: Context, key: string, value: string) => runStore(context, key, value),
    },
    {
      name: "unset",
      about: "Restore the default of a setting",
      args: [KEY],
      examples: ["service config unset base_url # Back to the default"],
      run: (context: Context, key: string) => runStore(context, key, undefined),
    },
    {
      name: "path",
      about: "Print the path of the settings file",
      examples: ["service config path"],
      run: runPath,
    },
  ],
};

async function runList(context: Context): Promise<void> {
  const entries = await Promise.all(Object.keys(CONFIG_KEYS).map((key) => entryOf(key, context)));
  const { terminal, json } = context.output;
  const baseUrl = entries.find(({ key }) => key === "base_url")?.value;
  // Usually one server is both.
  const shown =
    terminal && !json ? entries.filter(({ key, value }) => key !== "auth_url" || value !== baseUrl) : entries;
  await context.output.list(shown, VIEW);
}

async function runGet(context: Context, key: string): Promise<void> {
  const entry = await entryOf(key, context);
  if (context.output.json) return await context.output.document(entry);
  context.output.line(String(entry.value));
}

/** Stores a value, or removes it. */
async function runStore(context: Context, key: string, text: string | undefined): Promise<void> {
  const { output } = context;
  const setting = keyNamed(key);
  // Checked before the file is locked and written.
  setting.store(text, context.settings, context);
  await context.updateSettings((settings) => setting.store(text, settings, context));
  const entry = await storedEntry(key, context);
  output.success(`${text === undefined ? "Reset" : "Set"} ${key} to ${String(entry.value)}`);
  const { value, source } = await entryOf(key, context);
  if (value !== entry.value) output.warn(`${source} is set and overrides the stored value.`);
  if (output.json) return await output.document(entry);
  if (!output.quiet && !output.terminal) output.line(`${key}\t${String(entry.value)}`);
}

async function runPath({ output, settingsDirectory }: Context): Promise<void> {
  const path = join(settingsDirectory, SETTINGS_FILE);
  if (output.json) return await output.document({ path });
  output.line(path);
}

async function entryOf(key: string, sources: Sources) {
  const setting = keyNamed(key);
  return { key, ...(await setting.effective(sources)), meaning: setting.meaning };
}

/** Returns a setting as it is stored, whatever overrides it. */
function storedEntry(key: string, { globals, env, settings }: Context): Promise<Entry> {
  const profile = key === "profile" ? undefined : resolveTarget({ flags: globals, env, settings }).profile.value;
  const flags = { ...globals, profile, baseUrl: undefined };
  return entryOf(key, { globals: flags, env: {}, settings, project: async () => undefined });
}

function keyNamed(name: string): ConfigKey {
  const key = Object.hasOwn(CONFIG_KEYS, name) ? CONFIG_KEYS[name] : undefined;
  if (key !== undefined) return key;
  const [guess] = nearest(name.replaceAll("-", "_"), Object.keys(CONFIG_KEYS));
  throw new UsageError(`Unknown setting "${name}"`, {
    hint: guess === undefined ? `Settings: ${Object.keys(CONFIG_KEYS).join(", ")}.` : `Did you mean ${guess}?`,
  });
}

async function fromPlace(sources: Sources, member: "profile" | "baseUrl" | "authUrl"): Promise<Effective> {
  const { globals, env, settings } = sources;
  // The profile does not depend on the project file, which may be invalid.
  const project = member === "profile" ? undefined : await sources.project();
  const { value, name } = resolveTarget({ flags: globals, env, settings, project })[member];
  return { value, source: name };
}

function address(text: string, { globals: { insecure } }: Context): string {
  return parseBaseUrl(text, { insecure }).href.replace(/\/$/, "");
}

function parseBoolean(text: string): boolean {
  if (text === "true" || text === "false") return text === "true";
  throw new UsageError(`update_notices: must be true or false, not "${text}"`);
}

/**
 * Stored credentials are sent to the addresses that they were stored with, so those cannot change before the
 * credentials.
 */
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
      hint: `To keep both, use another profile: ${shellCommand`service login --profile NAME --base-url ${after.base_url}`}. Or sign out first: service logout${flag}`,
      code: "profile_in_use",
    });
  }
  return withProfile(settings, name, after);
}
