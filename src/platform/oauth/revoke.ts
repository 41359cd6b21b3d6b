import { parseCredential } from "../../contract/credentials.ts";
import type { Parameters } from "../pages/parameters.ts";
import type { Services } from "../services.ts";
import { findTokenByDigest, revokeAccessToken } from "../storage/access-tokens.ts";
import type { ClientRow } from "../storage/oauth-apps.ts";
import { revokeGrant } from "../storage/oauth-grants.ts";
import { findRefreshToken } from "../storage/refresh-tokens.ts";
import { OAuthError } from "./oauth-error.ts";

/**
 * RFC 7009: a refresh token ends its whole grant, an access token itself alone. A token that is unknown is as good as
 * revoked; one of another client is left alone. `token_type_hint` is not needed, the token tells.
 */
export async function revokeToken({ database, vault, clock }: Services, client: ClientRow, form: Parameters) {
  const sent = form.get("token");
  if (sent === undefined) throw new OAuthError("invalid_request", "token is missing");
  const digest = vault.digest(sent);
  const now = clock.now();
  switch (parseCredential(sent)?.kind) {
    case "refresh_token": {
      const token = await findRefreshToken(database, digest);
      if (token?.app_id === client.id) await database.write((tx) => revokeGrant(tx, token.grant_id, now, "revoked"));
      return;
    }
    case "access_token": {
      const token = await findTokenByDigest(database, digest);
      if (token?.app_id === client.id) await database.write((tx) => revokeAccessToken(tx, token.id, now));
      return;
    }
    default:
  }
}
