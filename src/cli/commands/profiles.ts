import { ENVIRONMENTS } from "../../contract/environments.ts";
import type { CommandDefinition, Operand } from "../command.ts";
import type { Context } from "../context.ts";
import { signOutProfile } from "../credentials/end.ts";
import { showDeleted } from "../resource/verbs.ts";
import { DEFAULT_PROFILE, profileNamed, requireProfile, type Settings } from "../settings/profiles.ts";
import type { Column, ResourceView } from "../terminal/view.ts";

type ProfileEntry = ReturnType<typeof toEntry>;

const KINDS = { api_key: "key", oauth: "browser" } as const;

const NAME: Column<ProfileEntry> = { label: "Name", text: ({ name }) => name, style: "accent" };
const CURRENT: Column<ProfileEntry> = {
  label: "Current",
  text: ({ current }, { terminal }) => (current ? (terminal ? "✓" : "yes") : terminal ? "" : "no"),
  style: "good",
};
const BASE_URL: Column<ProfileEntry> = { label: "Base URL", text: ({ base_url }) => base_url, shrinks: true };
const ACCOUNT: Column<ProfileEntry> = { label: "Account", text: ({ account }) => account?.name ?? "", shrinks: true };
const SIGNED_IN: Column<ProfileEntry> = {
  label: "Signed in",
  text: ({ credentials }) =>
    credentials.map(({ environment, type }) => `${environment} (${KINDS[type]})`).join(", ") || "no",
};

const PROFILES: ResourceView<ProfileEntry> = {
  noun: "profile",
  key: "name",
  fields: ["name", "current", "base_url", "auth_url", "account", "credentials"],
  columns: [NAME, CURRENT, ACCOUNT, SIGNED_IN, { ...BASE_URL, optional: true }],
  details: [NAME, CURRENT, ACCOUNT, SIGNED_IN, BASE_URL, { label: "Auth URL", text: ({ auth_url }) => auth_url }],
};

const DELETED: ResourceView<{ name: string; deleted: boolean }> = {
  noun: "deletion",
  key: "name",
  fields: ["name", "deleted"],
  details: [
    { label: "Name", text: ({ name }) => name },
    { label: "Deleted", text: ({ deleted }) => String(deleted) },
  ],
};

const NAMED: Operand = { arg: "<name>", about: "Name of the profile" };

/** `service profiles`. */
export const command: CommandDefinition = {
  name: "profiles",
  about:
    "Manage profiles, each for one platform and account. To use one for a command, pass --profile or set SERVICE_PROFILE.",
  examples: [
    "service login --profile shop --base-url https://api.example.com # Create a profile",
    "service profiles list",
    "service profiles use shop",
  ],
  commands: [
    {
      name: "list",
      about: "List profiles; the current one is marked",
      fields: PROFILES,
      examples: ["service profiles list", "service profiles list --json --jq '.[].name'"],
      run: runList,
    },
    {
      name: "use",
      about: "Set the current profile",
      args: [NAMED],
      fields: PROFILES,
      examples: ["service profiles use shop"],
      run: runUse,
    },
    {
      name: "delete",
      about: "Revoke the sessions of a profile and delete it",
      args: [NAMED],
      fields: DELETED,
      examples: ["service profiles delete shop"],
      run: runDelete,
    },
  ],
};

async function runList({ settings, output }: Context): Promise<void> {
  const names = Object.keys(settings.profiles).sort();
  await output.list(
    names.map((name) => toEntry(settings, name)),
    PROFILES,
  );
  if (names.length === 0) output.note("To create one: service login");
}

async function runUse(context: Context, name: string): Promise<void> {
  requireProfile(context.settings, name);
  const settings = await context.updateSettings((settings) => ({ ...settings, current_profile: name }));
  context.output.success(`Current profile: ${name}`);
  if (context.env["SERVICE_PROFILE"]) context.output.warn("SERVICE_PROFILE is set and overrides the current profile.");
  await context.output.object(toEntry(settings, name), PROFILES);
}

async function runDelete(context: Context, name: string): Promise<void> {
  const profile = requireProfile(context.settings, name);
  await signOutProfile(context, name, profile);
  await context.updateSettings((settings) => withoutProfile(settings, name));
  await showDeleted(context, `Deleted profile ${name}`, { name, deleted: true }, DELETED);
}

function withoutProfile(settings: Settings, name: string): Settings {
  const { [name]: _, ...profiles } = settings.profiles;
  return {
    ...settings,
    profiles,
    current_profile: settings.current_profile === name ? DEFAULT_PROFILE : settings.current_profile,
  };
}

/** Returns a profile for output, without its credentials. */
function toEntry(settings: Settings, name: string) {
  const { base_url, auth_url, account, credentials } = profileNamed(settings, name)!;
  return {
    name,
    current: settings.current_profile === name,
    base_url,
    auth_url,
    account: account ?? null,
    credentials: ENVIRONMENTS.flatMap((environment) => {
      const type = credentials[environment]?.type;
      return type === undefined ? [] : [{ environment, type }];
    }),
  };
}
