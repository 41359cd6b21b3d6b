import { type Environment, ENVIRONMENTS } from "../../contract/environments.ts";
import { insertRow } from "./batches.ts";
import { changesRow, type Queries, type Transaction } from "./database.ts";
import { insertEnvironment } from "./environments.ts";

export interface AccountRow {
  id: string;
  name: string;
  /** The API version of requests without `Service-Version`. */
  version: string;
  created: number;
}

/** Adds an account with its environments. Returns the environments' numbers. */
export async function insertAccount(tx: Transaction, account: AccountRow): Promise<Record<Environment, number>> {
  await insertRow(tx, "accounts", account);
  const numbers = {} as Record<Environment, number>;
  for (const name of ENVIRONMENTS) numbers[name] = await insertEnvironment(tx, { account_id: account.id, name });
  return numbers;
}

/** Returns the oldest account, or undefined in an empty database. */
export function firstAccount(queries: Queries): Promise<AccountRow | undefined> {
  return queries.get<AccountRow>("SELECT id, name, version, created FROM accounts ORDER BY id LIMIT 1");
}

export async function findEnvironmentNumber(queries: Queries, accountId: string, name: Environment): Promise<number> {
  const sql = "SELECT id FROM environments WHERE account_id = $1 AND name = $2";
  const row = await queries.get<{ id: number }>(sql, [accountId, name]);
  if (row === undefined) throw new Error(`The account ${accountId} has no ${name} environment.`);
  return row.id;
}

export interface TenantRow {
  environment: number;
  environment_name: Environment;
  account_id: string;
  account_name: string;
  account_version: string;
}

/** Columns of a TenantRow besides the environment's number, of `environments e` and `accounts a`. */
export const TENANT =
  "e.name AS environment_name, a.id AS account_id, a.name AS account_name, a.version AS account_version";

export function toTenant({ environment, environment_name: name, ...row }: TenantRow) {
  const account = { id: row.account_id, name: row.account_name, version: row.account_version };
  return { environment, name, livemode: name === "live", account };
}

export async function tenantOf(queries: Queries, environment: number) {
  const row = await queries.get<TenantRow>(
    `SELECT e.id AS environment, ${TENANT} FROM environments e JOIN accounts a ON a.id = e.account_id WHERE e.id = $1`,
    [environment],
  );
  if (row === undefined) throw new Error(`No environment has the number ${environment}.`);
  return toTenant(row);
}

export function accountOfUser(queries: Queries, userId: string): Promise<AccountRow | undefined> {
  return queries.get<AccountRow>(
    `SELECT a.id, a.name, a.version, a.created FROM accounts a JOIN users u ON u.account_id = a.id WHERE u.id = $1`,
    [userId],
  );
}

/** A user who signs in. The owner may invite and remove others. */
export interface UserRow {
  id: string;
  account_id: string;
  email: string;
  /** The email in lowercase, which is unique in the deployment. */
  email_key: string;
  role: "owner" | "member";
  /** The password's hash with its parameters; null until one is set. */
  password: string | null;
  created: number;
}

const USER_COLUMNS = "id, account_id, email, email_key, role, password, created";

/** Returns false if the email is taken: then nothing was written. */
export async function insertUser(tx: Transaction, row: UserRow): Promise<boolean> {
  return (await insertRow(tx, "users", row, "ON CONFLICT DO NOTHING")) === 1;
}

export function findUser(queries: Queries, id: string): Promise<UserRow | undefined> {
  return queries.get(`SELECT ${USER_COLUMNS} FROM users WHERE id = $1`, [id]);
}

export function findUserByEmail(queries: Queries, emailKey: string): Promise<UserRow | undefined> {
  return queries.get(`SELECT ${USER_COLUMNS} FROM users WHERE email_key = $1`, [emailKey]);
}

/** Returns the users of an account, each with the end of the invitation that they have not accepted yet. */
export function usersOfAccount(queries: Queries, accountId: string) {
  return queries.all<UserRow & { invited_until: number | null }>(
    `SELECT ${USER_COLUMNS}, (SELECT MAX(l.expires_at) FROM sign_in_links l
       WHERE l.user_id = users.id AND l.invitation = 1 AND l.used_at IS NULL) AS invited_until
     FROM users WHERE account_id = $1 ORDER BY id`,
    [accountId],
  );
}

export async function hasAnyPassword(queries: Queries): Promise<boolean> {
  return (await queries.get("SELECT 1 AS one FROM users WHERE password IS NOT NULL LIMIT 1")) !== undefined;
}

/** Returns the oldest owner of the oldest account: the operator of the deployment. */
export function firstOwner(queries: Queries): Promise<UserRow | undefined> {
  return queries.get(`SELECT ${USER_COLUMNS} FROM users WHERE role = 'owner' ORDER BY account_id, id LIMIT 1`);
}

/** Returns true once the email is the user's; false if another user has it. */
export function changeEmail(tx: Transaction, id: string, email: string, emailKey: string): Promise<boolean> {
  return changesRow(
    tx,
    `UPDATE users SET email = $2, email_key = $3
     WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM users other WHERE other.email_key = $3 AND other.id <> $1)`,
    [id, email, emailKey],
  );
}

export async function setPassword(tx: Transaction, id: string, password: string): Promise<void> {
  await tx.run("UPDATE users SET password = $2 WHERE id = $1", [id, password]);
}

/**
 * Replaces a hash that was checked before this transaction, by itself or by another. Returns false if the password was
 * changed meanwhile.
 */
export function replaceHash(tx: Transaction, id: string, from: string | null, to: string | null) {
  const sql = "UPDATE users SET password = $3 WHERE id = $1 AND COALESCE(password, '') = COALESCE($2, '')";
  return changesRow(tx, sql, [id, from, to]);
}

/** Removes a member of the account with all sessions and grants. Owners stay. */
export function deleteMember(tx: Transaction, accountId: string, id: string): Promise<boolean> {
  return changesRow(tx, "DELETE FROM users WHERE id = $2 AND account_id = $1 AND role = 'member'", [accountId, id]);
}
