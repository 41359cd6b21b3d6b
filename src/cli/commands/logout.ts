import type { Command } from "commander";
import type { Context } from "../context.ts";
import { UserError } from "../errors.ts";
import { addExamples } from "../help-layout.ts";
import { resolveProfileName } from "../settings/connection.ts";
import { type Profile, profileNamed, type Settings } from "../settings/profiles.ts";

/** `service logout`. */
export function register(program: Command, context: Context): void {
  const logout = program
    .command("logout")
    .description("Forget the stored credentials of a profile. API keys go on working: revoke them at the platform.")
    .option("--all", "Forget those of every profile")
    .action((flags: { all?: true }) => runLogout(flags, context));
  addExamples(logout, ["service logout", "service logout --profile shop", "service logout --all"]);
}

async function runLogout({ all }: { all?: true }, context: Context): Promise<void> {
  const { globals, env, output } = context;
  const named = resolveProfileName(globals.profile, env, context.settings).value;
  const names = Object.entries(context.settings.profiles)
    .filter(([name, profile]) => (all || name === named) && Object.keys(profile.credentials).length > 0)
    .map(([name]) => name);
  if (names.length === 0) {
    throw new UserError(all ? "No profile is signed in" : `Profile "${named}" is not signed in`, {
      code: "not_signed_in",
    });
  }
  await context.updateSettings((settings) => names.reduce(withoutCredentials, settings));
  for (const name of names) output.success(`Signed out of profile ${name}; its API keys go on working until revoked`);
  if (output.json) await output.document({ signed_out: names });
  if (env["SERVICE_API_KEY"]) output.warn("SERVICE_API_KEY is still set and goes on signing in.");
}

function withoutCredentials(settings: Settings, name: string): Settings {
  const profile = profileNamed(settings, name);
  if (profile === undefined) return settings;
  const { account: _, ...rest } = profile;
  const signedOut: Profile = { ...rest, credentials: {} };
  return { ...settings, profiles: { ...settings.profiles, [name]: signedOut } };
}
