import { CLI_CLIENT_ID } from "../../contract/oauth.ts";
import { type AuthorizationServer, discoverAuthorizationServer } from "../../client/oauth/authorization-server.ts";
import { parseBaseUrl } from "../../client/base-url.ts";
import { AuthorizationError } from "../../client/errors.ts";
import { createTransport } from "../../client/transport.ts";
import { proxiesOf, userAgentOf } from "../connect.ts";
import type { Context } from "../context.ts";
import { UserError } from "../errors.ts";

/** The OAuth server at an address, as this program's own client. */
export async function openAuthorizationServer(context: Context, authUrl: string): Promise<AuthorizationServer> {
  const issuer = parseBaseUrl(authUrl, { insecure: context.globals.insecure });
  const { output } = context;
  return await discoverAuthorizationServer({
    issuer,
    clientId: CLI_CLIENT_ID,
    transport: createTransport(proxiesOf(context)),
    userAgent: userAgentOf(context),
    signal: context.signal,
    ...(context.debug
      ? {
          onAttempt: ({ method, url, outcome, milliseconds }) =>
            output.trace(`${method} ${url} → ${outcome} (${Math.round(milliseconds)} ms)`),
        }
      : {}),
  });
}

/** An AuthorizationError as the person sees it; anything else as it is. */
export function explainAuthorization(error: unknown): unknown {
  if (!(error instanceof AuthorizationError)) return error;
  const { message, hint, code } = error;
  return new UserError(message, { hint, code, cause: error });
}
