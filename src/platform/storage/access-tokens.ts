import type { Environment } from "../../contract/environments.ts";
import { inBatches, insertRow } from "./batches.ts";
import type { Queries, Transaction } from "./database.ts";

export interface AccessTokenRow {
  id: string;
  digest: Uint8Array;
  grant_id: string;
  /** JSON array of scopes: the grant's, or fewer. */
  scopes: string;
  prefix: string;
  last4: string;
  revoked_at: number | null;
  created: number;
  expires_at: number;
}

/** A token with its grant and client, from one lookup. */
export interface TokenOwner extends AccessTokenRow {
  app_id: string;
  grant_revoked_at: number | null;
  environment: number;
  environment_name: Environment;
  /** How many faults requests to the environment can get. */
  faults: number;
  account_id: string;
  account_name: string;
  account_version: string;
  user_id: string;
  user_email: string;
}

/** Adds a token, and removes expired ones of the grant. */
export async function insertAccessToken(tx: Transaction, row: Omit<AccessTokenRow, "revoked_at">): Promise<void> {
  await tx.run("DELETE FROM access_tokens WHERE grant_id = $1 AND expires_at <= $2", [row.grant_id, row.created]);
  await insertRow(tx, "access_tokens", row);
}

const OWNER_QUERY = `SELECT t.id, t.digest, t.grant_id, t.scopes, t.prefix, t.last4, t.revoked_at, t.created, t.expires_at,
         g.app_id, g.revoked_at AS grant_revoked_at, g.environment, e.name AS environment_name, e.faults, a.id AS account_id,
         a.name AS account_name, a.version AS account_version, u.id AS user_id, u.email AS user_email
  FROM access_tokens t JOIN oauth_grants g ON g.id = t.grant_id JOIN users u ON u.id = g.user_id
    JOIN environments e ON e.id = g.environment JOIN accounts a ON a.id = e.account_id`;

export function findTokenByDigest(queries: Queries, digest: Uint8Array): Promise<TokenOwner | undefined> {
  return queries.get<TokenOwner>(`${OWNER_QUERY} WHERE t.digest = $1`, [digest]);
}

export function findTokenOwner(queries: Queries, id: string): Promise<TokenOwner | undefined> {
  return queries.get<TokenOwner>(`${OWNER_QUERY} WHERE t.id = $1`, [id]);
}

export async function revokeAccessToken(tx: Transaction, id: string, at: number): Promise<void> {
  await tx.run("UPDATE access_tokens SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL", [id, at]);
}

/** Revokes the grant's tokens that were issued at or after a time. */
export async function revokeAccessTokensSince(
  tx: Transaction,
  { grantId, since, at }: { grantId: string; since: number; at: number },
): Promise<void> {
  await tx.run(
    "UPDATE access_tokens SET revoked_at = $3 WHERE grant_id = $1 AND created >= $2 AND revoked_at IS NULL",
    [grantId, since, at],
  );
}

/** Returns those of the digests that belong to access tokens, with their grants. */
export function findAccessTokensByDigests(queries: Queries, digests: readonly Uint8Array[]) {
  return inBatches(digests, (placeholders, batch) =>
    queries.all<{ digest: Uint8Array; grant_id: string }>(
      `SELECT digest, grant_id FROM access_tokens WHERE digest IN (${placeholders})`,
      batch,
    ),
  );
}
