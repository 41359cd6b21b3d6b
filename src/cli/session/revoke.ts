import { revokeGrant } from "../../client/oauth/tokens.ts";
import type { Context } from "../context.ts";
import type { Profile } from "../settings/profiles.ts";
import { openAuthorizationServer } from "./authorization-server.ts";

/**
 * Ends the sessions of a profile at the platform. Answers whether it was told of all of them; one that cannot be reached
 * is no reason to keep credentials. Import this module lazily.
 */
export async function revokeSessions(context: Context, { auth_url, credentials }: Profile): Promise<boolean> {
  const sessions = Object.values(credentials).filter((credential) => credential.type === "oauth");
  if (sessions.length === 0) return true;
  try {
    const server = await openAuthorizationServer(context, auth_url);
    await Promise.all(sessions.map(({ refresh_token }) => revokeGrant(server, refresh_token)));
    return true;
  } catch (error) {
    context.signal.throwIfAborted();
    if (context.debug) context.output.trace(`revocation: ${(error as Error).message}`);
    return false;
  }
}
