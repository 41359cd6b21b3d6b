import { displayOf, formatCredential } from "../../contract/credentials.ts";
import type { Scope } from "../../contract/scopes.ts";
import type { With } from "../tools.ts";
import {
  findCode,
  findRefreshToken,
  insertAccessToken,
  insertGrant,
  insertRefreshToken,
  type NewGrant,
  type OAuthCodeRow,
  type RefreshTokenOwner,
  replaceSuccessor,
  revokeAccessTokensSince,
  revokeGrant,
  useCode,
  useRefreshToken,
} from "../storage/oauth-grants.ts";
import type { Transaction } from "../storage/database.ts";
import { formatScopeNames, parseScopeNames } from "./scope-names.ts";
import { createHash, timingSafeEqual } from "node:crypto";
import type { Parameters } from "../http/pages/parameters.ts";
import type { ClientRow } from "../storage/oauth-apps.ts";
import { OAuthError } from "./oauth-error.ts";

const ACCESS_SECONDS = 3600;
/** A grant can be refreshed for this long after its last refresh. */
export const REFRESH_SECONDS = 30 * 86_400;

/** A successful response of the token endpoint (RFC 6749 5.1). */
export interface TokenResponse {
  access_token: string;
  token_type: "Bearer";
  expires_in: number;
  refresh_token: string;
  scope: string;
}

export type GrantTools = With<"database" | "vault" | "clock" | "random" | "newId">;

/** Begins a grant and issues its first tokens. Revoking it revokes every token that descends from it. */
export async function beginGrant(tx: Transaction, tools: GrantTools, grant: NewGrant): Promise<TokenResponse> {
  await insertGrant(tx, grant);
  return issueTokens(tx, tools, grant.id, JSON.parse(grant.scopes) as Scope[], null, grant.created);
}

/** Issues an access token of a grant, and the refresh token that follows `parent`. Only their digests are stored. */
async function issueTokens(
  tx: Transaction,
  { vault, random, newId }: GrantTools,
  grantId: string,
  scopes: readonly Scope[],
  parent: Uint8Array | null,
  now: number,
): Promise<TokenResponse> {
  const access = formatCredential("at_", random.bytes(32));
  const refresh = formatCredential("rt_", random.bytes(32));
  await insertAccessToken(tx, {
    id: newId("access_token", now),
    digest: vault.digest(access),
    grant_id: grantId,
    scopes: JSON.stringify(scopes),
    ...displayOf(access),
    created: now,
    expires_at: now + ACCESS_SECONDS * 1000,
  });
  await insertRefreshToken(tx, {
    digest: vault.digest(refresh),
    grant_id: grantId,
    parent,
    created: now,
    expires_at: now + REFRESH_SECONDS * 1000,
  });
  return {
    access_token: access,
    token_type: "Bearer",
    expires_in: ACCESS_SECONDS,
    refresh_token: refresh,
    scope: formatScopeNames(scopes),
  };
}

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
    const { user_id, environment, scopes } = row;
    return beginGrant(tx, tools, { id: grantId, app_id: client.id, user_id, environment, scopes, created: now });
  });
  if (response !== undefined) return response;
  throw new OAuthError("invalid_grant", "The code is unknown, used, expired, or was issued for another request.");
}

function isAskedRight(row: OAuthCodeRow, client: ClientRow, form: Parameters, verifier: string): boolean {
  const redirectUri = form.get("redirect_uri") ?? null;
  if (row.app_id !== client.id || row.redirect_uri !== redirectUri) return false;
  const challenge = createHash("sha256").update(verifier).digest("base64url");
  // Both are digests of 43 characters.
  return timingSafeEqual(Buffer.from(challenge), Buffer.from(row.challenge));
}

/** Grace period in which a client that was killed before it could store the new token may use the old one again. */
const GRACE_MS = 30_000;

/**
 * Rotates a refresh token. A used token that is presented again was copied, which revokes its grant. The exception,
 * within the grace period, is the direct parent of a token that nobody has used yet: that token is replaced, its access
 * token revoked, and it stays as a tombstone whose use would revoke the grant.
 *
 * A request that finds the token unused and then loses to a concurrent one is rejected, and nothing is revoked: that is
 * a client with two processes.
 */
export async function refresh(tools: GrantTools, client: ClientRow, form: Parameters): Promise<TokenResponse> {
  const { database, vault, clock } = tools;
  const sent = form.get("refresh_token");
  if (sent === undefined) throw new OAuthError("invalid_request", "refresh_token is missing");
  const now = clock.now();
  const token = await findRefreshToken(database, vault.digest(sent));
  if (token === undefined || token.app_id !== client.id || token.expires_at <= now) throw invalidToken();
  const scopes = narrowed(JSON.parse(token.scopes) as Scope[], form.get("scope"));
  const response = await database.write(async (tx) => {
    if (!(await take(tx, token, now))) return undefined;
    return issueTokens(tx, tools, token.grant_id, scopes, token.digest, now);
  });
  if (response === undefined) throw invalidToken();
  return response;
}

/** Returns true if this request may issue the token's successor. */
async function take(tx: Transaction, token: RefreshTokenOwner, now: number): Promise<boolean> {
  const { digest, grant_id, used_at, replaced_at } = token;
  if (used_at === null && replaced_at === null) return useRefreshToken(tx, digest, now);
  const inGrace = used_at !== null && now - used_at <= GRACE_MS;
  if (inGrace && (await replaceSuccessor(tx, digest, now))) {
    // Only replaced successors have issued access tokens since this token was used.
    await revokeAccessTokensSince(tx, grant_id, used_at, now);
    return true;
  }
  await revokeGrant(tx, grant_id, now, "refresh token used twice");
  return false;
}

/** RFC 6749 6: the same scopes or fewer. A later refresh may have all of them again. */
function narrowed(granted: Scope[], text: string | undefined): Scope[] {
  if (text === undefined) return granted;
  const requested = parseScopeNames(text);
  if (requested.every((scope) => granted.includes(scope))) return requested;
  throw new OAuthError("invalid_scope", "A refresh cannot request more scopes than the user approved.");
}

function invalidToken(): OAuthError {
  return new OAuthError("invalid_grant", "The refresh token is unknown, used, revoked or expired: sign in again.");
}
