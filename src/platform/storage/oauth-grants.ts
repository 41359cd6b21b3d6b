import type { Environment } from "../../contract/environments.ts";
import { insertRow } from "./batches.ts";
import type { Queries, Transaction } from "./database.ts";

/** A user's approval of an app in one environment. */
export interface OAuthGrantRow {
  id: string;
  app_id: string;
  user_id: string;
  environment: number;
  /** JSON array of scopes. */
  scopes: string;
  revoked_at: number | null;
  revoked_reason: string | null;
  created: number;
}

/** An active grant, with the names to show. */
export interface LiveGrant {
  id: string;
  app_name: string;
  environment_name: Environment;
  scopes: string;
  created: number;
}

export async function insertGrant(tx: Transaction, row: Omit<OAuthGrantRow, "revoked_at" | "revoked_reason">) {
  await insertRow(tx, "oauth_grants", row);
}

/** Revokes a grant and with it every token that descends from it. */
export async function revokeGrant(tx: Transaction, id: string, at: number, reason: string): Promise<void> {
  await tx.run("UPDATE oauth_grants SET revoked_at = $2, revoked_reason = $3 WHERE id = $1 AND revoked_at IS NULL", [
    id,
    at,
    reason,
  ]);
}

/** Revokes the user's own grant. Returns false if there is no active one. */
export async function revokeGrantOfUser(tx: Transaction, userId: string, id: string, at: number): Promise<boolean> {
  const revoked = await tx.run(
    `UPDATE oauth_grants SET revoked_at = $3, revoked_reason = 'revoked'
     WHERE id = $2 AND user_id = $1 AND revoked_at IS NULL`,
    [userId, id, at],
  );
  return revoked === 1;
}

/** Returns the user's grants that can still be refreshed, newest first. */
export function liveGrantsOfUser(queries: Queries, userId: string, now: number): Promise<LiveGrant[]> {
  return queries.all(
    `SELECT g.id, o.name AS app_name, e.name AS environment_name, g.scopes, g.created
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
  return tx.run(
    `DELETE FROM oauth_grants WHERE id IN (
       SELECT g.id FROM oauth_grants g
       WHERE g.id < $1 AND NOT EXISTS (SELECT 1 FROM refresh_tokens r WHERE r.grant_id = g.id AND r.expires_at > $2)
       ORDER BY g.id LIMIT $3)`,
    [beforeId, now, limit],
  );
}
