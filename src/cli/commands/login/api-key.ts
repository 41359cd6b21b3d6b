import type { Environment } from "../../../contract/environments.ts";
import type { Identity } from "../../../contract/schemas/account.ts";
import type { Context } from "../../context.ts";
import { UsageError, UserError } from "../../errors.ts";
import { signOutProfile } from "../../session/end.ts";
import { resolveTarget } from "../../settings/connection.ts";
import { assertSamePlatform, showSignIn, storeSignIn } from "./profile.ts";
import type { LoginFlags } from "./run.ts";

/** `service login --api-key-stdin`. */
export async function loginWithApiKey({ authUrl, ...flags }: LoginFlags, context: Context): Promise<void> {
  const [misplaced] = Object.keys(flags);
  if (misplaced !== undefined) {
    const name = misplaced.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    throw new UsageError(`--${name} cannot be combined with --api-key-stdin`);
  }
  const key = await context.readApiKey();
  const environment = await environmentOf(key, context);
  const target = resolveTarget({
    flags: { ...context.globals, live: environment === "live", authUrl },
    env: context.env,
    settings: context.settings,
    project: await context.project(),
  });
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
      code: "malformed_key",
    });
  }
  if (context.globals.live && parsed.environment !== "live") {
    throw new UsageError("--live requires a live key, but this is a sandbox key", { code: "other_environment" });
  }
  return parsed.environment;
}
