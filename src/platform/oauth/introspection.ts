import { parseCredential } from "../../contract/credentials.ts";
import type { Scope } from "../../contract/scopes.ts";
import type { Clock } from "../ports.ts";
import type { Vault } from "../secrets/vault.ts";
import type { Queries } from "../storage/database.ts";
import { findTokenByDigest } from "../storage/access-tokens.ts";
import type { ClientRow } from "../storage/oauth-apps.ts";
import { findRefreshToken } from "../storage/refresh-tokens.ts";
import { formatScopeNames } from "./scope-names.ts";

/** The state of a token (RFC 7662 2.2): nothing but `active` for one that is not, or that is another client's. */
type Introspection =
  | { active: false }
  | {
      active: true;
      client_id: string;
      scope: string;
      iss: string;
      /** Unix seconds. */
      iat: number;
      exp: number;
      token_type?: "Bearer";
      /** The user. */
      sub?: string;
    };

interface IntrospectionTools {
  database: Queries;
  vault: Vault;
  clock: Clock;
  baseUrl: () => string;
}

const INACTIVE: Introspection = { active: false };

/** Returns the state of a token for the client that it was issued to. */
export async function introspect(
  { database, vault, clock, baseUrl }: IntrospectionTools,
  client: ClientRow,
  token: string,
): Promise<Introspection> {
  const digest = vault.digest(token);
  const now = clock.now();
  switch (parseCredential(token)?.kind) {
    case "access_token": {
      const row = await findTokenByDigest(database, digest);
      if (row === undefined || row.app_id !== client.id || row.expires_at <= now) return INACTIVE;
      if (row.revoked_at !== null || row.grant_revoked_at !== null) return INACTIVE;
      return { ...describe(row, baseUrl()), token_type: "Bearer", sub: row.user_id };
    }
    case "refresh_token": {
      const row = await findRefreshToken(database, digest);
      if (row === undefined || row.app_id !== client.id || row.expires_at <= now) return INACTIVE;
      if (row.used_at !== null || row.replaced_at !== null || row.grant_revoked_at !== null) return INACTIVE;
      return describe(row, baseUrl());
    }
    default:
      return INACTIVE;
  }
}

interface DescribedToken {
  app_id: string;
  /** JSON array of scopes. */
  scopes: string;
  created: number;
  expires_at: number;
}

function describe({ app_id, scopes, created, expires_at }: DescribedToken, iss: string) {
  return {
    active: true as const,
    client_id: app_id,
    scope: formatScopeNames(JSON.parse(scopes) as Scope[]),
    iss,
    iat: Math.floor(created / 1000),
    exp: Math.floor(expires_at / 1000),
  };
}
