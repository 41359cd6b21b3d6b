import type { Environment } from "../../contract/environments.ts";
import { TENANT, type TenantRow, type UserRow } from "./accounts.ts";
import { deleteFirst, insertRow } from "./batches.ts";
import { changesRow, type Queries, type Transaction } from "./database.ts";

/** A browser in which a user is signed in. */
export interface SessionRow {
  digest: Uint8Array;
  id: string;
  user_id: string;
  /** 1 if a one-time link began it, else 0. */
  by_link: number;
  /** The browser's User-Agent when the session began. */
  user_agent: string | null;
  /** Where it began. */
  client_address: string | null;
  /** When it last called the API, in real time. */
  last_used: number | null;
  created: number;
  expires_at: number;
}

/** An active session with its user and account, from one lookup. */
export interface SessionOwner
  extends
    Pick<SessionRow, "user_id" | "by_link" | "created">,
    Pick<UserRow, "email" | "role" | "password" | "account_id"> {
  account_name: string;
}

export async function insertSession(tx: Transaction, row: Omit<SessionRow, "last_used">): Promise<void> {
  await insertRow(tx, "sessions", row);
}

/** Removes rows that have expired. Returns how many. */
export function deleteExpired(
  tx: Transaction,
  table: "sessions" | "sign_in_links",
  now: number,
  limit: number,
): Promise<number> {
  return deleteFirst(tx, { table, key: "digest", where: "expires_at <= $1", order: "expires_at" }, [now], limit);
}

export function findSession(queries: Queries, digest: Uint8Array, now: number): Promise<SessionOwner | undefined> {
  return queries.get(
    `SELECT s.user_id, s.by_link, s.created, u.email, u.role, u.password, a.id AS account_id, a.name AS account_name
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

/** An active session as a credential of one environment: everything that authentication needs, from one lookup. */
export type SessionCaller = TenantRow &
  Pick<SessionRow, "id" | "user_id" | "last_used"> &
  Pick<UserRow, "email" | "role">;

export function findSessionCaller(queries: Queries, digest: Uint8Array, environment: Environment, now: number) {
  return queries.get<SessionCaller>(
    `SELECT s.id, s.user_id, s.last_used, u.email, u.role, e.id AS environment, ${TENANT}
     FROM sessions s JOIN users u ON u.id = s.user_id JOIN accounts a ON a.id = u.account_id
     JOIN environments e ON e.account_id = a.id AND e.name = $2
     WHERE s.digest = $1 AND s.expires_at > $3`,
    [digest, environment, now],
  );
}

export async function isSessionLive(queries: Queries, id: string, now: number): Promise<boolean> {
  return (await queries.get("SELECT id FROM sessions WHERE id = $1 AND expires_at > $2", [id, now])) !== undefined;
}

/** Returns a user's active sessions, newest first. */
export function sessionsOfUser(queries: Queries, userId: string, now: number): Promise<Omit<SessionRow, "digest">[]> {
  return queries.all(
    `SELECT id, user_id, by_link, user_agent, client_address, last_used, created, expires_at FROM sessions
     WHERE user_id = $1 AND expires_at > $2 ORDER BY id DESC LIMIT 100`,
    [userId, now],
  );
}

export async function touchSession(tx: Transaction, id: string, at: number): Promise<void> {
  await tx.run("UPDATE sessions SET last_used = $2 WHERE id = $1", [id, at]);
}

/** Revokes a session of the user. Returns true if there was one. */
export function deleteSessionOfUser(tx: Transaction, userId: string, id: string): Promise<boolean> {
  return changesRow(tx, "DELETE FROM sessions WHERE user_id = $1 AND id = $2", [userId, id]);
}

/** A link that signs its user in, once. */
interface SignInLinkRow {
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

/** Returns a link that is still valid. */
export function findSignInLink(queries: Queries, digest: Uint8Array, now: number): Promise<SignInLinkRow | undefined> {
  return queries.get(
    `SELECT digest, user_id, invitation, used_at, created, expires_at FROM sign_in_links
     WHERE digest = $1 AND used_at IS NULL AND expires_at > $2`,
    [digest, now],
  );
}

/** Returns false if the link was already used, has expired, or is of the other kind. */
export function useSignInLink(tx: Transaction, digest: Uint8Array, invitation: number, now: number) {
  return changesRow(
    tx,
    `UPDATE sign_in_links SET used_at = $3
     WHERE digest = $1 AND invitation = $2 AND used_at IS NULL AND expires_at > $3`,
    [digest, invitation, now],
  );
}

/** A new password invalidates all earlier links. */
export async function deleteLinksOfUser(tx: Transaction, userId: string): Promise<void> {
  await tx.run("DELETE FROM sign_in_links WHERE user_id = $1", [userId]);
}
