import { CLI_CLIENT_ID } from "../../contract/scopes.ts";
import { type AuthorizationServer, discoverAuthorizationServer } from "../../client/oauth/authorization-server.ts";
import { parseBaseUrl } from "../../client/base-url.ts";
import { AuthorizationError } from "../../client/errors.ts";
import { createTransport } from "../../client/transport.ts";
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
