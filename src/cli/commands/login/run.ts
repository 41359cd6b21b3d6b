import { AuthorizationError } from "../../../client/errors.ts";
import type { AuthorizationServer } from "../../../client/oauth/authorization-server.ts";
import { revokeToken, type TokenSet, type AuthorizationParameters } from "../../../client/oauth/authorization.ts";
import type { SuccessPage } from "../../../client/oauth/loopback.ts";
import { ENVIRONMENTS } from "../../../contract/environments.ts";
import type { Identity } from "../../../contract/schemas/account.ts";
import { type Scope, SCOPES } from "../../../contract/scopes.ts";
import { whyNoBrowser } from "../../browser.ts";
import type { Context } from "../../context.ts";
import { UsageError, UserError } from "../../errors.ts";
import { explainAuthorization, openAuthorizationServer } from "../../credentials/authorization-server.ts";
import { signOutProfile } from "../../credentials/end.ts";
import { storedTokens } from "../../credentials/refresh.ts";
import { type ConnectionTarget, resolveTarget } from "../../settings/connection.ts";
import type { Profile } from "../../settings/profiles.ts";
import { signInByBrowser, signInByDevice } from "./oauth.ts";
import { assertSamePlatform, profileFlag, showSignIn, storeSignIn } from "./profile.ts";

export interface LoginFlags {
  device?: true;
  /** Undefined to decide by the environment. */
  browser?: boolean;
  authUrl?: string;
  scope?: Scope[];
  /** Seconds. */
  timeout?: number;
  callbackPort?: number;
}

/** `service login`: OAuth, in a browser here or on another device. Import this module lazily. */
export async function runLogin(flags: LoginFlags, context: Context): Promise<void> {
  const { settings, env, output } = context;
  const flow = chooseFlow(flags, context);
  const project = await context.project();
  const targetIn = (live: boolean) =>
    resolveTarget({ flags: { ...context.globals, live, authUrl: flags.authUrl }, env, settings, project });
  const unasked = targetIn(context.globals.live);
  assertSamePlatform(settings, unasked);
  const authUrl = unasked.authUrl.value;
  try {
    const server = await output.spinner.during(`Waiting for ${authUrl}`, () =>
      openAuthorizationServer(context, authUrl),
    );
    // Asked only once the platform has responded; otherwise the answer would be useless.
    const target = targetIn(await isForLive(context));
    const parameters: AuthorizationParameters = { scopes: flags.scope ?? SCOPES, environment: target.environment };
    if (flow.kind === "device") {
      const tokens = await signInByDevice(context, server, { parameters, why: flow.why, timeout: flags.timeout });
      const identity = await keep(context, server, target, tokens);
      return await showSignIn(context, target, identity);
    }
    let signedIn: Identity | undefined;
    await signInByBrowser(context, server, {
      open: flow.open,
      port: flags.callbackPort,
      seconds: flags.timeout,
      parameters,
      keep: async (tokens) => {
        signedIn = await keep(context, server, target, tokens);
        return successPageOf(signedIn, target, context);
      },
    });
    if (signedIn !== undefined) await showSignIn(context, target, signedIn);
  } catch (error) {
    throw explain(error);
  }
}

/** Asks for the environment on a terminal, unless `--live` says it. The user chooses the account in the browser. */
async function isForLive({ globals, interactive, prompts }: Context): Promise<boolean> {
  if (globals.live || !interactive || globals.json) return globals.live;
  return (await prompts.one({ message: "Environment", flag: "--live", choices: ENVIRONMENTS })) === "live";
}

/** Verifies that the tokens work, and stores them. Tokens that cannot be stored are revoked. */
async function keep(
  context: Context,
  server: AuthorizationServer,
  target: ConnectionTarget,
  tokens: TokenSet,
): Promise<Identity> {
  let identity: Identity;
  let replaced: Profile;
  try {
    const client = await context.clientFor(target.baseUrl.value, tokens.accessToken);
    ({ body: identity } = await client.request<Identity>({ method: "GET", path: "/v1/me" }));
    if (identity.environment !== target.environment) {
      throw new UserError(
        `The platform returned a session for the ${identity.environment} environment instead of ${target.environment}`,
      );
    }
    replaced = await storeSignIn(context, target, identity, storedTokens(tokens, context.now()));
  } catch (error) {
    await revokeToken(server, tokens.refreshToken).catch(() => {});
    throw error;
  }
  await signOutProfile(context, target.profile.value, replaced);
  return identity;
}

function successPageOf(
  { account, user, environment }: Identity,
  { profile }: ConnectionTarget,
  context: Context,
): SuccessPage {
  const flags = `${profileFlag(profile, context)}${environment === "live" ? " --live" : ""}`;
  // Listening works in the sandbox only.
  const next = environment === "live" ? "customers list" : "listen --forward-to localhost:3000";
  return {
    facts: [
      ["Account", account.name],
      ...(user === null ? [] : [["User", user.email] as const]),
      ["Environment", environment],
      ["Profile", profile.value],
    ],
    commands: [`service whoami${flags}`, `service ${next}${flags}`].map((command) => context.output.runnable(command)),
  };
}

const WORDS: Readonly<Record<string, { message: string; hint: string }>> = {
  access_denied: {
    message: "Sign-in was denied in the browser",
    hint: "If that was a mistake, run the command again.",
  },
  expired_token: {
    message: "The code expired before it was authorized",
    hint: "Run the command again for a new code.",
  },
};

function explain(error: unknown): unknown {
  const description = error instanceof AuthorizationError ? WORDS[error.code] : undefined;
  if (description === undefined || !(error instanceof AuthorizationError)) return explainAuthorization(error);
  return new UserError(description.message, { hint: description.hint, code: error.code, cause: error });
}

/** How the user signs in; `why` is set if the environment decided it. */
type Flow = { kind: "browser"; open: boolean } | { kind: "device"; why: string | undefined };

/** Returns the requested method, else the device flow if no browser can open here. */
function chooseFlow({ device, browser, callbackPort }: LoginFlags, context: Context): Flow {
  if (device === true) {
    if (browser !== undefined || callbackPort !== undefined) {
      const other = callbackPort === undefined ? `--${browser === true ? "" : "no-"}browser` : "--callback-port";
      throw new UsageError(`--device cannot be combined with ${other}`);
    }
    return { kind: "device", why: undefined };
  }
  if (browser !== undefined || callbackPort !== undefined) return { kind: "browser", open: browser ?? true };
  // A script would wait for the code until it expires.
  if (!context.interactive) {
    throw new UsageError("Cannot sign in without terminal input", {
      hint: "In scripts, pass --api-key-stdin or set SERVICE_API_KEY. To wait for someone with a browser, pass --device.",
    });
  }
  const why = whyNoBrowser(context);
  return why === undefined ? { kind: "browser", open: true } : { kind: "device", why };
}
