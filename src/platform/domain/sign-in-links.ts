import type { Transaction } from "../storage/database.ts";
import { insertSignInLink } from "../storage/sign-in-links.ts";
import type { SecretTools } from "./api-keys.ts";

/** How long a dashboard link and an invitation are valid, in seconds. */
export const SIGN_IN_LINK_SECONDS = 15 * 60;
const INVITATION_SECONDS = 3 * 86_400;

/** Creates a link's token and stores only its digest. */
export async function createLinkToken(
  tx: Transaction,
  { vault, random }: SecretTools,
  link: { userId: string; invitation: boolean; now: number },
): Promise<string> {
  const token = Buffer.from(random.bytes(32)).toString("base64url");
  const seconds = link.invitation ? INVITATION_SECONDS : SIGN_IN_LINK_SECONDS;
  await insertSignInLink(tx, {
    digest: vault.digest(token),
    user_id: link.userId,
    invitation: link.invitation ? 1 : 0,
    created: link.now,
    expires_at: link.now + seconds * 1000,
  });
  return token;
}
