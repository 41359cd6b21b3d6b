import { displayOf, formatCredential } from "../../contract/credentials.ts";
import type { Scope } from "../../contract/scopes.ts";
import type { With } from "../tools.ts";
import { insertAccessToken, insertGrant, insertRefreshToken } from "../storage/oauth-grants.ts";
import type { Transaction } from "../storage/database.ts";
import { formatScopeNames } from "./scope-names.ts";

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

/** What grants and their tokens are created with. */
export type GrantTools = With<"database" | "vault" | "clock" | "random" | "newId">;

/** The user's approval. */
interface Allowed {
  appId: string;
  userId: string;
  environment: number;
  scopes: readonly Scope[];
}

/** Begins a grant. Revoking it revokes every token that descends from it. */
export async function beginGrant(tx: Transaction, id: string, allowed: Allowed, now: number): Promise<void> {
  await insertGrant(tx, {
    id,
    app_id: allowed.appId,
    user_id: allowed.userId,
    environment: allowed.environment,
    scopes: JSON.stringify(allowed.scopes),
    created: now,
  });
}

/** Issues an access token of a grant, and the refresh token that follows `parent`. Only their digests are stored. */
export async function issueTokens(
  tx: Transaction,
  { vault, random, newId }: GrantTools,
  {
    grantId,
    scopes,
    parent,
    now,
  }: { grantId: string; scopes: readonly Scope[]; parent: Uint8Array | null; now: number },
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
