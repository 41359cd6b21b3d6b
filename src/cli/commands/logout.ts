import { type CommandDefinition, flag } from "../command.ts";
import type { Context } from "../context.ts";
import { EXIT_CODES, UserError } from "../errors.ts";
import { signOutProfile } from "../credentials/end.ts";
import { assertProfileExists, resolveProfileName } from "../settings/connection.ts";
import { profileNamed, type Settings, withProfile } from "../settings/profiles.ts";

/** `service logout`. */
export const command: CommandDefinition = {
  name: "logout",
  about:
    "Revoke the session of a profile and delete its credentials. API keys are deleted locally only; to revoke one, use `service keys revoke`.",
  options: [flag("--all", "Sign out of every profile")],
  examples: ["service logout", "service logout --profile shop", "service logout --all # From every profile"],
  run: runLogout,
};

async function runLogout(context: Context, { all }: { all?: true }): Promise<void> {
  const { globals, env, output, settings } = context;
  const profile = resolveProfileName(globals.profile, env, settings);
  const named = profile.value;
  const signedIn = Object.entries(settings.profiles).filter(
    ([name, { credentials }]) => (all || name === named) && Object.keys(credentials).length > 0,
  );
  if (signedIn.length === 0) {
    if (!all) assertProfileExists(profile, settings);
    throw new UserError(all ? "No profile is signed in" : `Profile "${named}" is not signed in`, {
      code: "not_signed_in",
      exitCode: EXIT_CODES.notSignedIn,
    });
  }
  const notRevoked: string[] = [];
  for (const [name, profile] of signedIn) if (!(await signOutProfile(context, name, profile))) notRevoked.push(name);
  const names = signedIn.map(([name]) => name);
  await context.updateSettings((settings) => names.reduce(withoutCredentials, settings));
  for (const [name, { credentials }] of signedIn) {
    const hasKeys = Object.values(credentials).some(({ type }) => type === "api_key");
    output.success(`Signed out of profile ${name}${hasKeys ? "; its API keys stay valid until revoked" : ""}`);
  }
  if (output.json) await output.document({ signed_out: names, platform_not_told: notRevoked });
  if (env["SERVICE_API_KEY"]) output.warn("SERVICE_API_KEY is still set and is still used.");
}

function withoutCredentials(settings: Settings, name: string): Settings {
  const profile = profileNamed(settings, name);
  if (profile === undefined) return settings;
  const { account: _, ...rest } = profile;
  return withProfile(settings, name, { ...rest, credentials: {} });
}
