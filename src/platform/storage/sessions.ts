import type { Queries, Transaction } from "./database.ts";

/** A browser in which somebody is signed in. */
export interface SessionRow {
  digest: Uint8Array;
  user_id: string;
  /** 1 where a one-time link began it, else 0. */
  by_link: number;
  created: number;
  expires_at: number;
}

/** A live session with its user and account, by one look-up. */
export interface SessionOwner {
  user_id: string;
  by_link: number;
  created: number;
  email: string;
  role: "owner" | "member";
  has_password: number;
  account_id: string;
  account_name: string;
}

/** Adds a session, and clears away those that have expired. */
export async function insertSession(tx: Transaction, row: SessionRow): Promise<void> {
  await tx.run("DELETE FROM sessions WHERE expires_at <= $1", [row.created]);
  await tx.run("INSERT INTO sessions (digest, user_id, by_link, created, expires_at) VALUES ($1, $2, $3, $4, $5)", [
    row.digest,
    row.user_id,
    row.by_link,
    row.created,
    row.expires_at,
  ]);
}

export function findSession(queries: Queries, digest: Uint8Array, now: number): Promise<SessionOwner | undefined> {
  return queries.get(
    `SELECT s.user_id, s.by_link, s.created, u.email, u.role, a.id AS account_id, a.name AS account_name,
            CASE WHEN u.password IS NULL THEN 0 ELSE 1 END AS has_password
     FROM sessions s JOIN users u ON u.id = s.user_id JOIN accounts a ON a.id = u.account_id
     WHERE s.digest = $1 AND s.expires_at > $2`,
    [digest, now],
  );
}

export async function deleteSession(tx: Transaction, digest: Uint8Array): Promise<void> {
  await tx.run("DELETE FROM sessions WHERE digest = $1", [digest]);
}

export async function deleteSessionsOfUser(tx: Transaction, userId: string): Promise<void> {
  await tx.run("DELETE FROM sessions WHERE user_id = $1", [userId]);
}
