import type { Environment } from "../../contract/environments.ts";
import { TENANT, type TenantRow } from "./accounts.ts";
import { deleteFirst, inBatches, insertRow } from "./batches.ts";
import { changesRow, type Queries, type Transaction } from "./database.ts";

/** A user's approval of an app in one environment. */
export interface NewGrant {
  id: string;
  app_id: string;
  user_id: string;
  environment: number;
  /** JSON array of scopes. */
  scopes: string;
  created: number;
}

/** An active grant, with the names to show. */
interface LiveGrant extends Pick<NewGrant, "id" | "scopes" | "created"> {
  app_name: string;
  environment_name: Environment;
  last_token_at: number;
}

export async function insertGrant(tx: Transaction, row: NewGrant): Promise<void> {
  await insertRow(tx, "oauth_grants", row);
}

/** Revokes a grant and with it every token that descends from it. */
export async function revokeGrant(tx: Transaction, id: string, at: number, reason: string): Promise<void> {
  const sql = "UPDATE oauth_grants SET revoked_at = $2, revoked_reason = $3 WHERE id = $1 AND revoked_at IS NULL";
  await tx.run(sql, [id, at, reason]);
}

/** Revokes the user's own grant. Returns false if there is no active one. */
export function revokeGrantOfUser(tx: Transaction, userId: string, id: string, at: number): Promise<boolean> {
  return changesRow(
    tx,
    `UPDATE oauth_grants SET revoked_at = $3, revoked_reason = 'revoked'
     WHERE id = $2 AND user_id = $1 AND revoked_at IS NULL`,
    [userId, id, at],
  );
}

/** Returns the user's grants that can still be refreshed, newest first. */
export function liveGrantsOfUser(queries: Queries, userId: string, now: number) {
  return queries.all<LiveGrant>(
    `SELECT g.id, o.name AS app_name, e.name AS environment_name, g.scopes, g.created,
       (SELECT MAX(r.created) FROM refresh_tokens r WHERE r.grant_id = g.id) AS last_token_at
     FROM oauth_grants g JOIN oauth_apps o ON o.id = g.app_id JOIN environments e ON e.id = g.environment
     WHERE g.user_id = $1 AND g.revoked_at IS NULL AND EXISTS (
       SELECT 1 FROM refresh_tokens r
       WHERE r.grant_id = g.id AND r.expires_at > $2 AND r.used_at IS NULL AND r.replaced_at IS NULL)
     ORDER BY g.id DESC LIMIT 100`,
    [userId, now],
  );
}

/** Deletes grants created before an ID that can no longer issue a token, with their tokens. Returns how many. */
export function deleteEndedGrants(tx: Transaction, beforeId: string, now: number, limit: number): Promise<number> {
  const where = `id < $1 AND NOT EXISTS (
    SELECT 1 FROM refresh_tokens r WHERE r.grant_id = oauth_grants.id AND r.expires_at > $2)`;
  return deleteFirst(tx, { table: "oauth_grants", key: "id", where }, [beforeId, now], limit);
}

interface RefreshTokenRow {
  digest: Uint8Array;
  grant_id: string;
  /** The digest of the token that this one followed. */
  parent: Uint8Array | null;
  used_at: number | null;
  /** When its parent was used again in time and got another successor. This one may no longer be used. */
  replaced_at: number | null;
  created: number;
  expires_at: number;
}

export interface RefreshTokenOwner extends RefreshTokenRow {
  app_id: string;
  /** JSON array of the scopes that were granted. */
  scopes: string;
  grant_revoked_at: number | null;
}

/** Adds a token, and removes expired ones of the grant. */
export async function insertRefreshToken(
  tx: Transaction,
  row: Pick<RefreshTokenRow, "digest" | "grant_id" | "parent" | "created" | "expires_at">,
): Promise<void> {
  await tx.run("DELETE FROM refresh_tokens WHERE grant_id = $1 AND expires_at <= $2", [row.grant_id, row.created]);
  await insertRow(tx, "refresh_tokens", row);
}

export function findRefreshToken(queries: Queries, digest: Uint8Array): Promise<RefreshTokenOwner | undefined> {
  return queries.get(
    `SELECT r.digest, r.grant_id, r.parent, r.used_at, r.replaced_at, r.created, r.expires_at, g.app_id, g.scopes,
            g.revoked_at AS grant_revoked_at
     FROM refresh_tokens r JOIN oauth_grants g ON g.id = r.grant_id WHERE r.digest = $1`,
    [digest],
  );
}

/** Returns true for exactly one concurrent caller. */
export function useRefreshToken(tx: Transaction, digest: Uint8Array, now: number): Promise<boolean> {
  return changesRow(
    tx,
    `UPDATE refresh_tokens SET used_at = $2
     WHERE digest = $1 AND used_at IS NULL AND replaced_at IS NULL AND expires_at > $2
       AND EXISTS (SELECT 1 FROM oauth_grants g WHERE g.id = refresh_tokens.grant_id AND g.revoked_at IS NULL)`,
    [digest, now],
  );
}

/** Returns true if the token's one active successor was unused: it is now a tombstone. */
export function replaceSuccessor(tx: Transaction, parent: Uint8Array, now: number): Promise<boolean> {
  return changesRow(
    tx,
    `UPDATE refresh_tokens SET replaced_at = $2
     WHERE parent = $1 AND used_at IS NULL AND replaced_at IS NULL
       AND EXISTS (SELECT 1 FROM oauth_grants g WHERE g.id = refresh_tokens.grant_id AND g.revoked_at IS NULL)`,
    [parent, now],
  );
}

interface AccessTokenRow {
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
export interface TokenOwner extends AccessTokenRow, TenantRow {
  app_id: string;
  grant_revoked_at: number | null;
  /** How many faults requests to the environment can get. */
  faults: number;
  user_id: string;
  user_email: string;
}

/** Adds a token, and removes expired ones of the grant. */
export async function insertAccessToken(tx: Transaction, row: Omit<AccessTokenRow, "revoked_at">): Promise<void> {
  await tx.run("DELETE FROM access_tokens WHERE grant_id = $1 AND expires_at <= $2", [row.grant_id, row.created]);
  await insertRow(tx, "access_tokens", row);
}

const TOKEN_OWNER = `SELECT t.id, t.digest, t.grant_id, t.scopes, t.prefix, t.last4, t.revoked_at, t.created, t.expires_at,
         g.app_id, g.revoked_at AS grant_revoked_at, g.environment, e.faults, ${TENANT},
         u.id AS user_id, u.email AS user_email
  FROM access_tokens t JOIN oauth_grants g ON g.id = t.grant_id JOIN users u ON u.id = g.user_id
    JOIN environments e ON e.id = g.environment JOIN accounts a ON a.id = e.account_id`;

export function findTokenByDigest(queries: Queries, digest: Uint8Array): Promise<TokenOwner | undefined> {
  return queries.get<TokenOwner>(`${TOKEN_OWNER} WHERE t.digest = $1`, [digest]);
}

export function findTokenOwner(queries: Queries, id: string): Promise<TokenOwner | undefined> {
  return queries.get<TokenOwner>(`${TOKEN_OWNER} WHERE t.id = $1`, [id]);
}

export async function revokeAccessToken(tx: Transaction, id: string, at: number): Promise<void> {
  await tx.run("UPDATE access_tokens SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL", [id, at]);
}

/** Revokes the grant's tokens that were issued at or after a time. */
export async function revokeAccessTokensSince(tx: Transaction, grantId: string, since: number, at: number) {
  const sql = "UPDATE access_tokens SET revoked_at = $3 WHERE grant_id = $1 AND created >= $2 AND revoked_at IS NULL";
  await tx.run(sql, [grantId, since, at]);
}

/** Returns those of the digests that belong to tokens of a kind, with their grants. */
export function findTokensByDigests(
  queries: Queries,
  table: "access_tokens" | "refresh_tokens",
  digests: readonly Uint8Array[],
) {
  return inBatches(digests, (placeholders, batch) =>
    queries.all<{ digest: Uint8Array; grant_id: string }>(
      `SELECT digest, grant_id FROM ${table} WHERE digest IN (${placeholders})`,
      batch,
    ),
  );
}

/** An authorization code, with everything that its exchange must repeat. */
export interface OAuthCodeRow {
  digest: Uint8Array;
  app_id: string;
  user_id: string;
  environment: number;
  /** JSON array of scopes. */
  scopes: string;
  /** The address as it was sent; null if the request had none. */
  redirect_uri: string | null;
  /** The S256 challenge. */
  challenge: string;
  used_at: number | null;
  /** The grant that the exchange created. */
  grant_id: string | null;
  created: number;
  expires_at: number;
}

const CODE_COLUMNS =
  "digest, app_id, user_id, environment, scopes, redirect_uri, challenge, used_at, grant_id, created, expires_at";
/** How long a used code is retained, in milliseconds: presenting it again reveals that it was stolen. */
const CODE_RETENTION_MS = 3_600_000;

/** Adds a code, and removes old ones. */
export async function insertCode(tx: Transaction, row: Omit<OAuthCodeRow, "used_at" | "grant_id">): Promise<void> {
  await tx.run("DELETE FROM oauth_codes WHERE expires_at <= $1", [row.created - CODE_RETENTION_MS]);
  await insertRow(tx, "oauth_codes", row);
}

export function findCode(queries: Queries, digest: Uint8Array): Promise<OAuthCodeRow | undefined> {
  return queries.get(`SELECT ${CODE_COLUMNS} FROM oauth_codes WHERE digest = $1`, [digest]);
}

/** Marks the code as used for a grant. Returns true for exactly one concurrent caller. */
export function useCode(tx: Transaction, digest: Uint8Array, grantId: string, now: number): Promise<boolean> {
  return changesRow(
    tx,
    "UPDATE oauth_codes SET used_at = $3, grant_id = $2 WHERE digest = $1 AND used_at IS NULL AND expires_at > $3",
    [digest, grantId, now],
  );
}
