import type { Environment } from "../../../contract/environments.ts";
import type { Identity } from "../../../contract/schemas/account.ts";
import type { Context } from "../../context.ts";
import { UsageError, UserError } from "../../errors.ts";
import { endSessions } from "../../session/end.ts";
import { resolvePlace } from "../../settings/connection.ts";
import type { LoginFlags } from "./index.ts";
import { refuseToReplacePlatform, showSignIn, storeSignIn } from "./profile.ts";

/** `service login --api-key-stdin`. */
export async function loginWithApiKey({ authUrl, ...flags }: LoginFlags, context: Context): Promise<void> {
  const [misplaced] = Object.keys(flags);
  if (misplaced !== undefined) {
    const name = misplaced.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    throw new UsageError(`--${name} is for signing in through a browser, and --api-key-stdin needs none`);
  }
  const key = await context.readApiKey();
  const environment = await environmentOf(key, context);
  const place = resolvePlace({
    flags: { ...context.globals, live: environment === "live", authUrl },
    env: context.env,
    settings: context.settings,
  });
  refuseToReplacePlatform(context.settings, place);
  const client = await context.clientFor(place.baseUrl.value, key);
  const { body: identity } = await client.request<Identity>({ method: "GET", path: "/v1/me" });
  const replaced = await storeSignIn(context, place, identity, { type: "api_key", api_key: key });
  await endSessions(context, place.profile.value, replaced);
  await showSignIn(context, place, identity);
}

/** Checks the key offline, so that one that was cut off in copying is named before anything is sent. */
async function environmentOf(key: string, context: Context): Promise<Environment> {
  const { parseCredential } = await import("../../../contract/credentials.ts");
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
