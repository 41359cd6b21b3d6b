import { revokeToken } from "../../client/oauth/authorization.ts";
import type { Context } from "../context.ts";
import type { Profile } from "../settings/profiles.ts";
import { openAuthorizationServer } from "./authorization-server.ts";

/**
 * Revokes the sessions of a profile at the platform. Returns whether all were revoked; an unreachable platform is no
 * reason to keep credentials. Import this module lazily.
 */
export async function revokeSessions(context: Context, { auth_url, credentials }: Profile): Promise<boolean> {
  const tokens = Object.values(credentials).flatMap((stored) =>
    stored.type === "oauth" ? [stored.refresh_token] : [],
  );
  return tokens.length === 0 || (await revokeAll(context, auth_url, tokens));
}

/** Revokes a leaked token at the platform. Returns false if the platform could not be reached. */
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
