import { insertRow } from "./batches.ts";
import type { Queries, Transaction } from "./database.ts";

/** A link that signs its user in, once. */
export interface SignInLinkRow {
  digest: Uint8Array;
  user_id: string;
  /** 1 if the link invites a new user, else 0. */
  invitation: number;
  used_at: number | null;
  created: number;
  expires_at: number;
}

export async function insertSignInLink(tx: Transaction, row: Omit<SignInLinkRow, "used_at">): Promise<void> {
  await insertRow(tx, "sign_in_links", row);
}

/** Removes links that have expired. Returns how many. */
export function deleteExpiredLinks(tx: Transaction, now: number, limit: number): Promise<number> {
  return tx.run(
    `DELETE FROM sign_in_links WHERE digest IN (
       SELECT digest FROM sign_in_links WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2)`,
    [now, limit],
  );
}

/** Returns a link that is still valid. */
export function findSignInLink(queries: Queries, digest: Uint8Array, now: number): Promise<SignInLinkRow | undefined> {
  return queries.get(
    `SELECT digest, user_id, invitation, used_at, created, expires_at FROM sign_in_links
     WHERE digest = $1 AND used_at IS NULL AND expires_at > $2`,
    [digest, now],
  );
}

/** Returns false if the link was already used, has expired, or is of the other kind. */
export async function useSignInLink(tx: Transaction, digest: Uint8Array, invitation: number, now: number) {
  const used = await tx.run(
    `UPDATE sign_in_links SET used_at = $3
     WHERE digest = $1 AND invitation = $2 AND used_at IS NULL AND expires_at > $3`,
    [digest, invitation, now],
  );
  return used === 1;
}

/** A new password invalidates all earlier links. */
export async function deleteLinksOfUser(tx: Transaction, userId: string): Promise<void> {
  await tx.run("DELETE FROM sign_in_links WHERE user_id = $1", [userId]);
}
