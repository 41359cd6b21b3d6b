import { duration, scopeNames, wholeNumber } from "../../arguments/values.ts";
import { assertSamePlatform, showSignIn, storeSignIn } from "./profile.ts";
import type { LoginFlags } from "./run.ts";
import { type CommandDefinition, flag } from "../../command.ts";
import type { Context } from "../../context.ts";
import { EXIT_CODES, UsageError, UserError } from "../../errors.ts";
import { identityView } from "../../resource/identity-view.ts";
import { signOutProfile } from "../../credentials/end.ts";
import { assertTrusted, resolveTarget } from "../../settings/connection.ts";
import type { Environment } from "../../../contract/environments.ts";
import type { Identity } from "../../../contract/schemas/account.ts";

/** `service login`. */
export const command: CommandDefinition = {
  name: "login",
  about:
    "Sign in through the browser and store the session in a profile. Asks for the environment, unless --live says it. Over SSH and without a display, shows a code to enter on another device instead.",
  options: [
    flag("--device", "Show a code to enter in a browser on any device"),
    flag("--browser", "Use a browser on this machine, even if none is detected"),
    flag("--no-browser", "Print the URL without opening a browser"),
    flag("--auth-url <url>", "URL of the OAuth server (default: the base URL)"),
    flag("--scope <scopes>", "Scopes to request, separated by commas: customers:read (repeatable)", {
      collect: scopeNames,
    }),
    flag("--timeout <duration>", "Maximum time to wait (default: 5m; with --device, until the code expires)", {
      parse: duration(1, 3600),
    }),
    flag("--callback-port <port>", "Port for the browser's callback (default: a free port)", {
      parse: wholeNumber(1, 65_535),
    }),
  ],
  examples: [
    "service login",
    "service login --live --profile shop --base-url https://api.example.com # To a platform that is deployed, as a named profile",
    "service login --device # Over SSH",
    "service login --scope customers:read,orders:read # With fewer permissions",
    "service login --api-key-stdin < key.txt # Without a browser at all",
  ],
  fields: identityView([["Profile", ""]]),
  async run(context: Context, flags: LoginFlags) {
    if (context.globals.apiKeyStdin) return await loginWithApiKey(flags, context);
    const { runLogin } = await import("./run.ts");
    return await runLogin(flags, context);
  },
};

async function loginWithApiKey({ authUrl, ...flags }: LoginFlags, context: Context): Promise<void> {
  const [misplaced] = Object.keys(flags);
  if (misplaced !== undefined) {
    const name = misplaced.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    throw new UsageError(`--${name} cannot be combined with --api-key-stdin`);
  }
  const key = await context.readApiKey();
  const environment = await environmentOf(key, context);
  const project = await context.project();
  const target = resolveTarget({
    flags: { ...context.globals, live: environment === "live", authUrl },
    env: context.env,
    settings: context.settings,
    project,
  });
  assertTrusted({ name: "--api-key-stdin", value: key }, target, { settings: context.settings, project });
  assertSamePlatform(context.settings, target);
  const client = await context.clientFor(target.baseUrl.value, key);
  const { body: identity } = await client.request<Identity>({ method: "GET", path: "/v1/me" });
  const replaced = await storeSignIn(context, target, identity, { type: "api_key", api_key: key });
  await signOutProfile(context, target.profile.value, replaced);
  await showSignIn(context, target, identity);
}

/** Checks the key offline, so that an incompletely copied one is reported before anything is sent. */
async function environmentOf(key: string, context: Context): Promise<Environment> {
  const { parseCredential } = await import("../../../contract/credentials.ts");
  const parsed = parseCredential(key);
  if (parsed?.environment === undefined) {
    throw new UserError("Incomplete or mistyped API key", {
      hint: "Copy the whole key again: it starts with sk_ or rk_ and ends with a checksum.",
      exitCode: EXIT_CODES.notSignedIn,
      code: "malformed_key",
    });
  }
  if (context.globals.live && parsed.environment !== "live") {
    throw new UsageError("--live requires a live key, but this is a sandbox key", { code: "other_environment" });
  }
  return parsed.environment;
}
