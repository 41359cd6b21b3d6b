import { insertRow } from "./batches.ts";
import type { Queries, Transaction } from "./database.ts";

/** An authorization code, with everything that its exchange must repeat. */
export interface OAuthCodeRow {
  digest: Uint8Array;
  app_id: string;
  user_id: string;
  environment: number;
  /** JSON array of scopes. */
  scopes: string;
  /** As it was sent; null if the request had none. */
  redirect_uri: string | null;
  /** The S256 challenge. */
  challenge: string;
  used_at: number | null;
  /** The grant that the exchange created. */
  grant_id: string | null;
  created: number;
  expires_at: number;
}

const COLUMNS =
  "digest, app_id, user_id, environment, scopes, redirect_uri, challenge, used_at, grant_id, created, expires_at";
/** How long a used code is retained, in milliseconds: presenting it again reveals that it was stolen. */
const RETENTION_MS = 3_600_000;

/** Adds a code, and removes old ones. */
export async function insertCode(tx: Transaction, row: Omit<OAuthCodeRow, "used_at" | "grant_id">): Promise<void> {
  await tx.run("DELETE FROM oauth_codes WHERE expires_at <= $1", [row.created - RETENTION_MS]);
  await insertRow(tx, "oauth_codes", row);
}

export function findCode(queries: Queries, digest: Uint8Array): Promise<OAuthCodeRow | undefined> {
  return queries.get(`SELECT ${COLUMNS} FROM oauth_codes WHERE digest = $1`, [digest]);
}

/** Marks the code as used for a grant. Returns true for exactly one concurrent caller. */
export async function useCode(tx: Transaction, digest: Uint8Array, grantId: string, now: number): Promise<boolean> {
  const used = await tx.run(
    "UPDATE oauth_codes SET used_at = $3, grant_id = $2 WHERE digest = $1 AND used_at IS NULL AND expires_at > $3",
    [digest, grantId, now],
  );
  return used === 1;
}
