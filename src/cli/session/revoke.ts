import { revokeToken } from "../../client/oauth/authorization.ts";
import type { Context } from "../context.ts";
import type { Profile } from "../settings/profiles.ts";
import { openAuthorizationServer } from "./authorization-server.ts";

/**
 * Ends the sessions of a profile at the platform. Answers whether it was told of all of them; one that cannot be reached
 * is no reason to keep credentials. Import this module lazily.
 */
export async function revokeSessions(context: Context, { auth_url, credentials }: Profile): Promise<boolean> {
  const tokens = Object.values(credentials).flatMap((stored) =>
    stored.type === "oauth" ? [stored.refresh_token] : [],
  );
  return tokens.length === 0 || (await revokeAll(context, auth_url, tokens));
}

/** Tells the platform to end a token that was found somewhere; false where it could not be told. */
export function revokeFoundToken(context: Context, authUrl: string, token: string): Promise<boolean> {
  return revokeAll(context, authUrl, [token]);
}

async function revokeAll(context: Context, authUrl: string, tokens: readonly string[]): Promise<boolean> {
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
