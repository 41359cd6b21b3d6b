import type { Command } from "commander";
import type { Context } from "../../context.ts";
import { UserError } from "../../errors.ts";
import { addExamples, addFields } from "../../help-layout.ts";
import { endSessions } from "../../session/end.ts";
import { DEFAULT_PROFILE, type Profile, profileNamed, type Settings } from "../../settings/profiles.ts";
import { toEntry, PROFILES } from "./view.ts";

/** `service profiles`. */
export function register(program: Command, context: Context): void {
  const profiles = program
    .command("profiles")
    .description(
      "A profile is one platform and account. `--profile NAME` or SERVICE_PROFILE chooses one for a command.",
    );
  addExamples(profiles, [
    "service login --profile shop --base-url https://api.example.com",
    "service profiles list",
    "service profiles use shop",
  ]);
  const list = profiles
    .command("list")
    .description("List the profiles; the current one is marked")
    .action(() => runList(context));
  addExamples(addFields(list, PROFILES), ["service profiles list", "service profiles list --json --jq '.[].name'"]);
  const use = profiles
    .command("use")
    .description("Make a profile the current one")
    .argument("<name>", "Name of the profile")
    .action((name: string) => runUse(name, context));
  addExamples(addFields(use, PROFILES), ["service profiles use shop"]);
  const remove = profiles
    .command("delete")
    .description("End the sessions of a profile, and forget it")
    .argument("<name>", "Name of the profile")
    .action((name: string) => runDelete(name, context));
  addExamples(remove, ["service profiles delete shop"]);
}

async function runList({ settings, output }: Context): Promise<void> {
  const names = Object.keys(settings.profiles).sort();
  if (output.quiet && !output.json) {
    for (const name of names) output.line(name);
    return;
  }
  await output.list(
    names.map((name) => toEntry(settings, name)),
    PROFILES,
  );
  if (names.length === 0) output.note("`service login` makes one.");
}

async function runUse(name: string, context: Context): Promise<void> {
  requireProfile(context.settings, name);
  const settings = await context.updateSettings((settings) => ({ ...settings, current_profile: name }));
  context.output.success(`Profile ${name} is the current one now`);
  if (context.env["SERVICE_PROFILE"])
    context.output.warn("SERVICE_PROFILE is set, and goes before the current profile.");
  await context.output.object(toEntry(settings, name), PROFILES);
}

async function runDelete(name: string, context: Context): Promise<void> {
  const profile = requireProfile(context.settings, name);
  await endSessions(context, name, profile);
  await context.updateSettings((settings) => withoutProfile(settings, name));
  context.output.success(`Deleted profile ${name}`);
  if (context.output.json) await context.output.document({ name, deleted: true });
}

function withoutProfile(settings: Settings, name: string): Settings {
  const { [name]: _, ...profiles } = settings.profiles;
  return {
    ...settings,
    profiles,
    current_profile: settings.current_profile === name ? DEFAULT_PROFILE : settings.current_profile,
  };
}

function requireProfile(settings: Settings, name: string): Profile {
  const profile = profileNamed(settings, name);
  if (profile !== undefined) return profile;
  const names = Object.keys(settings.profiles);
  throw new UserError(`There is no profile "${name}"`, {
    hint: names.length === 0 ? "None is stored yet: service login" : `Profiles: ${names.join(", ")}.`,
    code: "no_profile",
  });
}
