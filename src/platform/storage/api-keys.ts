import type { Environment } from "../../contract/environments.ts";
import { TENANT, type TenantRow } from "./accounts.ts";
import { inBatches } from "./batches.ts";
import { changesRow, type Queries, type Transaction } from "./database.ts";
import { columnsOf, type StoredFields } from "./field-values.ts";
import { rowsOf } from "./page.ts";

/** `ip_allowlist` is empty if every address is allowed. */
export interface ApiKeyRow extends StoredFields<"api_key"> {
  id: string;
  environment: number;
  digest: Uint8Array;
  kind: "secret_key" | "restricted_key";
  prefix: string;
  last4: string;
  last_used: number | null;
  revoked_at: number | null;
  /** Null until the key is revoked. */
  revoked_reason: string | null;
  created: number;
  /** The user or key that created it; null for the first keys. */
  created_by: string | null;
}

const FIELDS = columnsOf("api_key");
const NAMES = [
  ...(["id", "environment", "digest", "kind", "prefix", "last4"] as const),
  ...FIELDS,
  ...(["last_used", "revoked_at", "revoked_reason", "created", "created_by"] as const),
] satisfies (keyof ApiKeyRow)[];
const COLUMNS_OF_K = NAMES.map((name) => `k.${name}`).join(", ");

/** A key with its account and environment: everything that authentication needs, from one lookup. */
export interface KeyOwner extends ApiKeyRow, TenantRow {
  /** Milliseconds by which the environment's clock, which `expires_at` uses, is ahead of real time. */
  clock_offset: number;
  /** How many faults requests to the environment can get. */
  faults: number;
}

const OWNER_QUERY = `SELECT ${COLUMNS_OF_K}, e.clock_offset, e.faults, ${TENANT}
  FROM api_keys k JOIN environments e ON e.id = k.environment JOIN accounts a ON a.id = e.account_id`;

export function findKeyByDigest(queries: Queries, digest: Uint8Array): Promise<KeyOwner | undefined> {
  return queries.get<KeyOwner>(`${OWNER_QUERY} WHERE k.digest = $1`, [digest]);
}

export function findKeyOwner(queries: Queries, id: string): Promise<KeyOwner | undefined> {
  return queries.get<KeyOwner>(`${OWNER_QUERY} WHERE k.id = $1`, [id]);
}

export const apiKeyRows = rowsOf<ApiKeyRow>("api_keys", NAMES.join(", "), FIELDS);

/** Returns the active keys that a user, or one of those keys, created, newest first. `now` is real time. */
export function usableKeysOfUser(queries: Queries, userId: string, now: number, limit: number) {
  return queries.all<ApiKeyRow & { environment_name: Environment }>(
    `WITH RECURSIVE made (id) AS (
       SELECT id FROM api_keys WHERE created_by = $1
       UNION SELECT k.id FROM api_keys k JOIN made ON k.created_by = made.id)
     SELECT ${COLUMNS_OF_K}, e.name AS environment_name
     FROM made JOIN api_keys k ON k.id = made.id JOIN environments e ON e.id = k.environment
     WHERE k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > $2 + e.clock_offset)
     ORDER BY k.id DESC LIMIT $3`,
    [userId, now, limit],
  );
}

/** Returns false if the key was already revoked: then the first reason stays. */
export function revokeApiKey(tx: Transaction, id: string, at: number, reason: string): Promise<boolean> {
  const sql = "UPDATE api_keys SET revoked_at = $2, revoked_reason = $3 WHERE id = $1 AND revoked_at IS NULL";
  return changesRow(tx, sql, [id, at, reason]);
}

/** Moves the time back only from a value of a wrong clock. */
export async function touchApiKey(tx: Transaction, id: string, at: number): Promise<void> {
  await tx.run(
    `UPDATE api_keys SET last_used = $2
     WHERE id = $1 AND (last_used IS NULL OR last_used < $2 OR last_used > $2 + 3600000)`,
    [id, at],
  );
}

/** Returns those of the digests that belong to keys. */
export function findKeysByDigests(queries: Queries, digests: readonly Uint8Array[]) {
  return inBatches(digests, (placeholders, batch) =>
    queries.all<{ id: string; digest: Uint8Array; clock_offset: number }>(
      `SELECT k.id, k.digest, e.clock_offset FROM api_keys k JOIN environments e ON e.id = k.environment
       WHERE k.digest IN (${placeholders})`,
      batch,
    ),
  );
}
