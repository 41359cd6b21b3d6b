import { createHash, timingSafeEqual } from "node:crypto";
import type { Scope } from "../../contract/scopes.ts";
import type { Parameters } from "../pages/parameters.ts";
import type { ClientRow } from "../storage/oauth-apps.ts";
import { findCode, type OAuthCodeRow, useCode } from "../storage/oauth-codes.ts";
import { revokeGrant } from "../storage/oauth-grants.ts";
import { OAuthError } from "./oauth-error.ts";
import { beginGrant, type GrantTools, issueTokens, type TokenResponse } from "./tokens.ts";

const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;

/**
 * Exchanges an authorization code. Only one exchange succeeds. A second valid one reveals a stolen code, and revokes
 * the tokens of the first. An invalid one changes nothing; otherwise anyone who saw a code could revoke another user's
 * session.
 */
export async function exchangeCode(tools: GrantTools, client: ClientRow, form: Parameters): Promise<TokenResponse> {
  const { database, vault, clock, newId } = tools;
  const code = form.get("code");
  const verifier = form.get("code_verifier");
  if (code === undefined) throw new OAuthError("invalid_request", "code is missing");
  if (verifier === undefined || !VERIFIER.test(verifier)) {
    throw new OAuthError("invalid_request", "code_verifier must have 43 to 128 unreserved characters");
  }
  const now = clock.now();
  const digest = vault.digest(code);
  const response = await database.write(async (tx) => {
    const row = await findCode(tx, digest);
    if (row === undefined || !isAskedRight(row, client, form, verifier)) return undefined;
    const grantId = newId("oauth_grant", now);
    if (!(await useCode(tx, digest, grantId, now))) {
      if (row.grant_id !== null) await revokeGrant(tx, row.grant_id, now, "code used twice");
      return undefined;
    }
    const scopes = JSON.parse(row.scopes) as Scope[];
    const allowed = { appId: client.id, userId: row.user_id, environment: row.environment, scopes };
    await beginGrant(tx, grantId, allowed, now);
    return issueTokens(tx, tools, { grantId, scopes, parent: null, now });
  });
  if (response !== undefined) return response;
  throw new OAuthError("invalid_grant", "The code is unknown, used, expired, or was issued for another request.");
}

function isAskedRight(row: OAuthCodeRow, client: ClientRow, form: Parameters, verifier: string): boolean {
  const redirectUri = form.get("redirect_uri") ?? null;
  if (row.app_id !== client.id || row.redirect_uri !== redirectUri) return false;
  const challenge = createHash("sha256").update(verifier).digest("base64url");
  return (
    challenge.length === row.challenge.length && timingSafeEqual(Buffer.from(challenge), Buffer.from(row.challenge))
  );
}
