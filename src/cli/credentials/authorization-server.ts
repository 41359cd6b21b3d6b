import { parseBaseUrl } from "../../client/base-url.ts";
import { AuthorizationError } from "../../client/errors.ts";
import { type AuthorizationServer, discoverAuthorizationServer } from "../../client/oauth/authorization-server.ts";
import { revokeToken } from "../../client/oauth/authorization.ts";
import { createTransport } from "../../client/transport.ts";
import { CLI_CLIENT_ID } from "../../contract/scopes.ts";
import { proxiesOf, type RequestContext, tracingOf, userAgentOf } from "../connect.ts";
import { UserError } from "../errors.ts";
import type { Profile } from "../settings/profiles.ts";

/** The OAuth server at an address, as the CLI's own client. */
export async function openAuthorizationServer(context: RequestContext, authUrl: string): Promise<AuthorizationServer> {
  const issuer = parseBaseUrl(authUrl, { insecure: context.globals.insecure });
  return await discoverAuthorizationServer({
    issuer,
    clientId: CLI_CLIENT_ID,
    transport: createTransport(proxiesOf(context)),
    userAgent: userAgentOf(context),
    signal: context.signal,
    ...tracingOf(context),
  });
}

/** Describes an AuthorizationError for the user; returns anything else as it is. */
export function explainAuthorization(error: unknown): unknown {
  if (!(error instanceof AuthorizationError)) return error;
  const { message, hint, code } = error;
  return new UserError(message, { hint, code, cause: error });
}

/**
 * Revokes the sessions of a profile at the platform. Returns whether all were revoked; an unreachable platform is no
 * reason to keep credentials. Import this module lazily.
 */
export async function revokeSessions(context: RequestContext, { auth_url, credentials }: Profile): Promise<boolean> {
  const tokens = Object.values(credentials).flatMap((stored) =>
    stored.type === "oauth" ? [stored.refresh_token] : [],
  );
  return tokens.length === 0 || (await revokeAll(context, auth_url, tokens));
}

/** Revokes a leaked token at the platform. Returns false if the platform could not be reached. */
export function revokeFoundToken(context: RequestContext, authUrl: string, token: string): Promise<boolean> {
  return revokeAll(context, authUrl, [token]);
}

async function revokeAll(context: RequestContext, authUrl: string, tokens: readonly string[]): Promise<boolean> {
  try {
    const server = await openAuthorizationServer(context, authUrl);
    await Promise.all(tokens.map((token) => revokeToken(server, token)));
    return true;
  } catch (error) {
    context.signal.throwIfAborted();
    if (context.debug) context.output.trace(`revocation: ${(error as Error).message}`);
    return false;
  }
}
