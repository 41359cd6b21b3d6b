import type { Environment } from "../../contract/environments.ts";
import type { Queries, Transaction } from "./database.ts";

export interface ApiKeyRow {
  id: string;
  environment: number;
  name: string | null;
  digest: Uint8Array;
  kind: "secret_key" | "restricted_key";
  prefix: string;
  last4: string;
  /** JSON array of scopes. */
  scopes: string;
  /** JSON array of CIDR ranges; empty allows every address. */
  ip_allowlist: string;
  expires_at: number | null;
  last_used: number | null;
  revoked_at: number | null;
  created: number;
}

/** A key with the account and environment that it belongs to: all that authentication needs, by one look-up. */
export interface KeyOwner extends ApiKeyRow {
  environment_name: Environment;
  account_id: string;
  account_name: string;
  account_version: string;
}

export async function insertApiKey(tx: Transaction, key: ApiKeyRow): Promise<void> {
  await tx.run(
    `INSERT INTO api_keys (id, environment, name, digest, kind, prefix, last4, scopes, ip_allowlist, expires_at, created)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    [
      key.id,
      key.environment,
      key.name,
      key.digest,
      key.kind,
      key.prefix,
      key.last4,
      key.scopes,
      key.ip_allowlist,
      key.expires_at,
      key.created,
    ],
  );
}

export function findKeyByDigest(queries: Queries, digest: Uint8Array): Promise<KeyOwner | undefined> {
  return queries.get<KeyOwner>(
    `SELECT k.id, k.environment, k.name, k.digest, k.kind, k.prefix, k.last4, k.scopes, k.ip_allowlist, k.expires_at,
            k.last_used, k.revoked_at, k.created, e.name AS environment_name, a.id AS account_id,
            a.name AS account_name, a.version AS account_version
     FROM api_keys k JOIN environments e ON e.id = k.environment JOIN accounts a ON a.id = e.account_id
     WHERE k.digest = $1`,
    [digest],
  );
}
