import { timingSafeEqual } from "node:crypto";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { formatTimestamp } from "../../contract/timestamps.ts";
import { parseAddress } from "../../network/addresses.ts";
import { ApiError, missing } from "../domain/api-error.ts";
import { createLinkToken, SIGN_IN_LINK_SECONDS } from "../domain/users.ts";
import type { Clock, Random } from "../ports.ts";
import type { Vault } from "../security/vault.ts";
import type { Database } from "../storage/database.ts";
import { firstOwner } from "../storage/accounts.ts";

export const SIGN_IN_LINKS_PATH = "/admin/sign_in_links";

/** The response with a new link. */
export interface SignInLink {
  sign_in_url: string;
  /** The user whom the link signs in. */
  email: string;
  expires_at: string;
}

interface LinkTools {
  database: Database;
  vault: Vault;
  random: Random;
  clock: Clock;
}

/** Routes for the administrator of this machine, who proves it with the token in the file next to the database. */
export function adminRoutes(app: FastifyInstance, tools: LinkTools & { baseUrl: () => string }, token: string): void {
  const { vault } = tools;
  const expectedDigest = vault.digest(token);

  const assertAdministrator = async ({ raw }: FastifyRequest) => {
    const peer = parseAddress(raw.socket.remoteAddress ?? "");
    const isLocal = peer?.range() === "loopback";
    const sent = vault.digest(/^Bearer (\S+)$/.exec(raw.headers.authorization ?? "")?.[1] ?? "");
    if (isLocal && timingSafeEqual(sent, expectedDigest)) return;
    throw new ApiError(
      "invalid_credential",
      "Requires the token from the file next to the database, and a connection from the same machine.",
      {
        headers: { "WWW-Authenticate": 'Bearer realm="service-admin"' },
      },
    );
  };

  app.post(SIGN_IN_LINKS_PATH, { onRequest: assertAdministrator }, async (_request, reply) => {
    void reply.code(201);
    return (await newSignInLink(tools, tools.baseUrl())) ?? missing("user", "owner");
  });
}

/** Returns a link that signs the first owner in once; undefined for a database without accounts. */
export async function newSignInLink(
  { database, vault, random, clock }: LinkTools,
  baseUrl: string,
): Promise<SignInLink | undefined> {
  const owner = await firstOwner(database);
  if (owner === undefined) return undefined;
  const now = clock.now();
  const token = await database.write((tx) =>
    createLinkToken(tx, { vault, random }, { userId: owner.id, invitation: false, now }),
  );
  return {
    sign_in_url: signInUrl(baseUrl, token),
    email: owner.email,
    expires_at: formatTimestamp(now + SIGN_IN_LINK_SECONDS * 1000),
  };
}

export function signInUrl(baseUrl: string, token: string): string {
  return `${baseUrl}/sign-in/link?token=${token}`;
}
