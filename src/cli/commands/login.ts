import type { Command } from "commander";
import type { Environment } from "../../contract/environments.ts";
import type { Identity } from "../../contract/schemas/identity.ts";
import type { Context } from "../context.ts";
import { UsageError, UserError } from "../errors.ts";
import { addExamples } from "../help-layout.ts";
import { resolveConnection } from "../settings/connection.ts";
import { type Profile, profileNamed, type Settings } from "../settings/profiles.ts";
import { identityView } from "./identity-view.ts";

/** `service login`. */
export function register(program: Command, context: Context): void {
  const login = program
    .command("login")
    .description("Sign in with an API key and remember it in a profile.")
    .action(() => runLogin(context));
  addExamples(login, [
    "service login --api-key-stdin < key.txt",
    "service login --api-key-stdin --live --profile shop --base-url https://api.example.com < key.txt",
  ]);
}

async function runLogin(context: Context): Promise<void> {
  if (!context.globals.apiKeyStdin) {
    throw new UsageError("How to sign in was not said", {
      hint: "Pipe an API key in: service login --api-key-stdin < key.txt",
    });
  }
  const key = await context.readApiKey();
  const environment = await environmentOf(key, context);
  const { profile, baseUrl, authUrl } = resolveConnection({
    flags: { ...context.globals, live: environment === "live" },
    env: { ...context.env, SERVICE_API_KEY: undefined },
    settings: context.settings,
    keyFromStdin: key,
  });
  refuseToReplacePlatform(context.settings, profile.value, baseUrl.value);
  const client = await context.clientFor(baseUrl.value, key);
  const { body: identity } = await client.request<Identity>({ method: "GET", path: "/v1/me" });
  const signedIn: Profile = {
    base_url: baseUrl.value,
    auth_url: authUrl.value,
    account: identity.account,
    credentials: { [environment]: { type: "api_key", api_key: key } },
  };
  await context.updateSettings((settings) => withProfile(settings, profile.value, signedIn));
  context.output.success(`Signed in to ${identity.account.name} (${environment}) at ${baseUrl.value}`);
  await context.output.object(identity, identityView([["Profile", profile.value]]));
}

/** Checks the key offline, so that one that was cut off in copying is named before anything is sent. */
async function environmentOf(key: string, context: Context): Promise<Environment> {
  const { parseCredential } = await import("../../contract/credentials.ts");
  const parsed = parseCredential(key);
  if (parsed?.environment === undefined) {
    throw new UserError("This is not a complete API key", {
      hint: "Copy it again, whole: it begins with sk_ or rk_, and its last characters are a checksum.",
      code: "malformed_key",
    });
  }
  if (context.globals.live && parsed.environment !== "live") {
    throw new UsageError("--live was given, but this is a sandbox key", { code: "other_environment" });
  }
  return parsed.environment;
}

/** A key is shown once, so that forgetting those of another platform in passing could not be undone. */
function refuseToReplacePlatform(settings: Settings, name: string, baseUrl: string): void {
  const existing = profileNamed(settings, name);
  if (existing === undefined || Object.keys(existing.credentials).length === 0) return;
  if (sameAddress(existing.base_url, baseUrl)) return;
  throw new UserError(`Profile "${name}" is signed in to ${existing.base_url}`, {
    hint: `Keep both: add --profile NAME. Or give it up first: service logout${name === "default" ? "" : ` --profile ${name}`}`,
    code: "profile_in_use",
  });
}

function sameAddress(one: string, other: string): boolean {
  return one.replace(/\/+$/, "") === other.replace(/\/+$/, "");
}

/** Another environment's key of the same account stays; one of another account goes. */
function withProfile(settings: Settings, name: string, signedIn: Profile): Settings {
  const existing = profileNamed(settings, name);
  const kept = existing?.account?.id === signedIn.account?.id ? existing?.credentials : {};
  return {
    ...settings,
    profiles: {
      ...settings.profiles,
      [name]: { ...existing, ...signedIn, credentials: { ...kept, ...signedIn.credentials } },
    },
  };
}
