import { parseBaseUrl } from "../../client/base-url.ts";
import { AuthorizationError } from "../../client/errors.ts";
import { type AuthorizationServer, discoverAuthorizationServer } from "../../client/oauth/authorization-server.ts";
import { revokeToken } from "../../client/oauth/authorization.ts";
import { createTransport } from "../../client/transport.ts";
import { CLI_CLIENT_ID } from "../../contract/scopes.ts";
import { proxiesOf, type RequestContext, tracingOf, userAgentOf } from "../connect.ts";
import { UserError } from "../errors.ts";

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
 * Revokes tokens; a refresh token revokes its whole session. Returns false if the platform could not be reached. Import
 * this module lazily.
 */
export async function revokeTokens(
  context: RequestContext,
  authUrl: string,
  tokens: readonly string[],
): Promise<boolean> {
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
