import { isSamePlatform } from "../../network/connect-options.ts";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Environment } from "../../contract/environments.ts";
import { DEFAULT_BASE_URL, serveCommand, shellCommand, shellWord } from "../../contract/shell-command.ts";
import { parseUrl } from "../../network/parse-url.ts";
import { EXIT_CODES, NotSignedInError, UsageError, UserError } from "../errors.ts";
import { PROJECT_FILE } from "../project/file.ts";
import {
  loginCommand,
  type Profile,
  PROFILE_NAME,
  profileNamed,
  type Settings,
  type StoredCredential,
  trustIn,
} from "./profiles.ts";
import { dataDirectory } from "./read.ts";

/** A setting and its source. `name` is for display, such as `--base-url` or `SERVICE_BASE_URL`. */
export interface Sourced<Value> {
  value: Value;
  source: "flag" | "environment" | "project" | "profile" | "default";
  name: string;
}

/** The addresses that a command uses. */
export interface ConnectionTarget {
  profile: Sourced<string>;
  baseUrl: Sourced<string>;
  authUrl: Sourced<string>;
  environment: Environment;
}

/** The addresses and the credential that a command uses. */
export interface Connection extends ConnectionTarget {
  credential: Sourced<StoredCredential> | undefined;
  /** True if the profile has no credential for the environment, but one for the other. */
  isOfOther: boolean;
}

interface TargetSources {
  flags: { profile: string | undefined; baseUrl: string | undefined; live: boolean; authUrl?: string | undefined };
  env: Readonly<Record<string, string | undefined>>;
  settings: Settings;
  /** What the project file of the working folder names. */
  project?: ProjectPlatform | undefined;
}

export interface ProjectPlatform {
  folder: string;
  baseUrl: string;
  /** Its origin, or `auto` if its port is chosen here, as `service dev trust` stores it. */
  trustName: string;
  /** The first keys of the database that `service dev` uses, and the file that contains them. */
  keys: (Record<Environment, string> & { file: string }) | undefined;
}

interface ConnectionSources extends TargetSources {
  /** The key that `--api-key-stdin` read. */
  keyFromStdin: string | undefined;
}

/** Resolves each address by precedence: flag, environment, project file, profile, default. */
export function resolveTarget({ flags, env, settings, project }: TargetSources): ConnectionTarget {
  const profileName = resolveProfileName(flags.profile, env, settings);
  const profile = profileNamed(settings, profileName.value);
  const fromProfile = `profile ${profileName.value}`;
  const baseUrl =
    sourced(flags.baseUrl, "flag", "--base-url") ??
    sourced(env["SERVICE_BASE_URL"], "environment", "SERVICE_BASE_URL") ??
    sourced(project?.baseUrl, "project", PROJECT_FILE) ??
    sourced(profile?.base_url, "profile", fromProfile) ??
    ({ value: DEFAULT_BASE_URL, source: "default", name: "default" } as const);
  const authUrl =
    sourced(flags.authUrl, "flag", "--auth-url") ??
    sourced(env["SERVICE_AUTH_URL"], "environment", "SERVICE_AUTH_URL") ??
    (baseUrl.source === "profile" ? sourced(profile?.auth_url, "profile", fromProfile) : undefined) ??
    ({ ...baseUrl, source: "default", name: "the base URL" } as const);
  return { profile: profileName, baseUrl, authUrl, environment: flags.live ? "live" : "sandbox" };
}

/** Resolves the addresses and the credential. Throws UserError for a credential of another target. */
export function resolveConnection({ keyFromStdin, ...sources }: ConnectionSources): Connection {
  const { env, settings, project } = sources;
  const target = resolveTarget(sources);
  const { credentials = {}, base_url: url = "" } = profileNamed(settings, target.profile.value) ?? {};
  const isStored = Object.keys(credentials).length > 0;
  // A flag takes precedence over a variable, at the profile's own platform.
  const isChosen = isStored && target.profile.source === "flag" && originOf(url) === originOf(target.baseUrl.value);
  const given =
    sourced(keyFromStdin, "flag", "--api-key-stdin") ??
    (isChosen ? undefined : sourced(env["SERVICE_API_KEY"], "environment", "SERVICE_API_KEY"));
  if (given !== undefined) assertTrusted(given, target, sources);
  const key = given ?? projectKey(project, target);
  const credential: Connection["credential"] =
    key === undefined
      ? storedCredential(profileNamed(settings, target.profile.value), target)
      : { ...key, value: { type: "api_key", api_key: key.value } };
  if (credential !== undefined) assertEnvironment(credential, target.environment);
  return { ...target, credential, isOfOther: credential === undefined && isStored };
}

/** Returns the key that `service serve` created with the project's database. It is for that platform only. */
function projectKey(
  project: ProjectPlatform | undefined,
  { baseUrl, environment }: ConnectionTarget,
): Sourced<string> | undefined {
  if (project?.keys === undefined || originOf(project.baseUrl) !== originOf(baseUrl.value)) return undefined;
  return sourced(project.keys[environment], "project", project.keys.file);
}

/**
 * Throws UserError for a key of the user at an address that only the project file names, except for the keys of that
 * folder. The file may come with someone else's repository, and any user of this machine may listen at its ports.
 */
export function assertTrusted(
  { name, value: key }: Pick<Sourced<string>, "name" | "value">,
  { baseUrl, profile }: ConnectionTarget,
  { settings, project }: Pick<TargetSources, "settings" | "project">,
): void {
  if (baseUrl.source !== "project" || project === undefined) return;
  if (key === project.keys?.sandbox || key === project.keys?.live) return;
  const withoutProject = profileNamed(settings, profile.value)?.base_url ?? DEFAULT_BASE_URL;
  if (originOf(withoutProject) === originOf(baseUrl.value)) return;
  if (trustIn(settings, project.folder).platform === project.trustName) return;
  throw new UserError(
    `The key from ${name} was not sent: the URL ${baseUrl.value} comes only from ${PROJECT_FILE}, which you have not trusted yet`,
    {
      hint: `If you trust that platform, run \`service dev trust\`, or set SERVICE_BASE_URL=${shellWord(baseUrl.value)} too.`,
      code: "other_origin",
      exitCode: EXIT_CODES.notSignedIn,
    },
  );
}

/** Throws UserError if the user selected a profile that does not exist. */
export function assertProfileExists({ value, source, name }: Sourced<string>, settings: Settings): void {
  if (source === "default" || profileNamed(settings, value) !== undefined) return;
  const names = Object.keys(settings.profiles);
  throw new UserError(`Profile "${value}" (from ${name}) does not exist`, {
    hint: `${names.length === 0 ? "No profiles are stored yet." : `Profiles: ${names.join(", ")}.`} To create it: service login --profile ${value}`,
    exitCode: EXIT_CODES.notFound,
    code: "no_profile",
  });
}

/** Returns the selected profile's name. It need not exist yet. */
export function resolveProfileName(
  flag: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
  settings: Settings,
): Sourced<string> {
  const name =
    sourced(flag, "flag", "--profile") ??
    sourced(env["SERVICE_PROFILE"], "environment", "SERVICE_PROFILE") ??
    ({ value: settings.current_profile, source: "default", name: "current profile" } as const);
  if (!PROFILE_NAME.test(name.value)) {
    throw new UsageError(`Invalid profile name "${name.value}"`, {
      hint: "Use up to 64 letters, digits, dots, dashes and underscores.",
    });
  }
  return name;
}

/**
 * Returns the credential of a connection, or throws an error that says where it was looked for and how to get one. With
 * `hasNoPlatform`, nothing listens at its URL.
 */
export function requireCredential(
  { credential, isOfOther, profile, environment, baseUrl }: Connection,
  settings: Pick<TargetSources, "env"> & { readonly settingsDirectory: string },
  hasNoPlatform: boolean,
): Sourced<StoredCredential> {
  if (credential !== undefined) return credential;
  const login = loginCommand({ profile: profile.value, environment, baseUrl });
  if (isOfOther) {
    const [here, there, change] =
      environment === "live"
        ? ["live mode", "the sandbox", "Remove --live"]
        : ["the sandbox", "live mode", "Add --live"];
    throw new NotSignedInError(
      `Profile "${profile.value}" is signed in to ${there} only`,
      `${change}, or sign in to ${here}: ${login}`,
    );
  }
  const where = environment === "live" ? " for live mode" : "";
  const keyFile = defaultKeysAt(baseUrl.value, settings.env);
  const start =
    baseUrl.source === "project"
      ? "Start the platform with `service dev`, which creates a key.\n"
      : baseUrl.source === "default"
        ? `${hasNoPlatform ? `No platform listens at ${baseUrl.value}, so start one first.\n` : ""}For a platform in this folder, run \`service dev init\`, then \`service dev\`. For one without a project, run \`service serve\`.\n`
        : hasNoPlatform
          ? `No platform listens at ${baseUrl.value}. ${startHint({ baseUrl })}.\n`
          : "";
  throw new NotSignedInError(
    `Not signed in: profile "${profile.value}" has no credential${where} in ${settings.settingsDirectory}`,
    keyFile === undefined
      ? `${start}Sign in with \`${login}\`, or set SERVICE_API_KEY.`
      : `Set SERVICE_API_KEY to the ${environment}_key in ${keyFile}, which \`service serve\` wrote.\nOr sign in with \`${login}\`.`,
  );
}

/** Returns the file with the first keys of the default database, if it is served at this URL. */
function defaultKeysAt(baseUrl: string, env: TargetSources["env"]): string | undefined {
  try {
    const file = `${join(dataDirectory(env), "platform.db")}.credentials`;
    const { base_url: served } = JSON.parse(readFileSync(file, "utf8")) as { base_url?: unknown };
    return isSamePlatform(String(served), baseUrl) ? file : undefined;
  } catch {
    return undefined;
  }
}

/** Returns how to start the platform of a connection, on this machine. */
export function startHint({ baseUrl }: Pick<Connection, "baseUrl">): string {
  const command = baseUrl.source === "project" ? "service dev" : serveCommand(new URL(baseUrl.value));
  return `Start the platform with \`${command}\``;
}

/** Returns what to do if the platform rejects the credential of a connection. */
export function rejectedCredentialHint({ credential, profile, environment, baseUrl }: Connection): string {
  const login = loginCommand({ profile: profile.value, environment, baseUrl });
  if (credential?.source === "project") {
    return `The key is of the database of ${PROJECT_FILE}, so another platform listens at ${baseUrl.value}. Stop it, or set another platform.port in ${PROJECT_FILE}.`;
  }
  if (credential?.source === "environment") {
    return `Set ${credential.name} to a valid key, or unset it and run \`${login}\`.`;
  }
  if (credential?.source === "flag") {
    return `Pass a valid key with ${credential.name}, or run \`${login}\`.`;
  }
  return `Sign in with \`${login}\`, or set SERVICE_API_KEY to a valid key.`;
}

/** A stored credential is only for the origin that it was stored with, whatever a flag or variable says. */
function storedCredential(
  profile: Profile | undefined,
  { baseUrl, environment, profile: { value: profileName } }: ConnectionTarget,
): Sourced<StoredCredential> | undefined {
  const fromProfile = `profile ${profileName}`;
  const stored = profile?.credentials[environment];
  if (profile === undefined || stored === undefined) return undefined;
  if (originOf(baseUrl.value) !== originOf(profile.base_url)) {
    throw new UserError(
      `The credential of ${fromProfile} is for ${profile.base_url}; it is not sent to ${baseUrl.value}`,
      {
        hint: `Pass a key for ${baseUrl.value} with SERVICE_API_KEY or --api-key-stdin, or sign in there: ${shellCommand`service login --profile NAME --base-url ${baseUrl.value}`}`,
        code: "other_origin",
        exitCode: EXIT_CODES.notSignedIn,
      },
    );
  }
  if (!isCredential(stored)) {
    throw new UserError(`The ${environment} credential of ${fromProfile} is corrupt`, {
      hint: `Sign in again: ${loginCommand({ profile: profileName, environment, baseUrl })}`,
      code: "settings_file",
    });
  }
  return { value: stored, source: "profile", name: fromProfile };
}

/** The file may have been edited manually. */
function isCredential(stored: Readonly<Record<string, unknown>> | StoredCredential): stored is StoredCredential {
  const members = { ...stored } as Readonly<Record<string, unknown>>;
  const needed = members["type"] === "oauth" ? ["access_token", "refresh_token", "expires_at"] : ["api_key"];
  return needed.every((name) => typeof members[name] === "string");
}

function assertEnvironment({ value, name }: Sourced<StoredCredential>, environment: Environment): void {
  const own = value.type === "api_key" ? /^[sr]k_(live|sandbox)_/.exec(value.api_key)?.[1] : undefined;
  if (own === undefined || own === environment) return;
  throw new UsageError(`The key from ${name} is a ${own} key, but this command uses the ${environment} environment`, {
    hint: own === "live" ? "To use live mode, pass --live." : "Remove --live, or use a live key.",
    code: "other_environment",
  });
}

function originOf(text: string): string | undefined {
  return parseUrl(text)?.origin;
}

function sourced(
  value: string | undefined,
  source: Sourced<string>["source"],
  name: string,
): Sourced<string> | undefined {
  return value === undefined || value === "" ? undefined : { value, source, name };
}
