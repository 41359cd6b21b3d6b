import { ENVIRONMENTS, type Environment } from "../../contract/environments.ts";
import { insertRow } from "./batches.ts";
import { insertEnvironment } from "./environments.ts";
import type { Queries, Transaction } from "./database.ts";

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

/** Returns the ID of an account's environment. */
export async function findEnvironmentNumber(queries: Queries, accountId: string, name: Environment): Promise<number> {
  const row = await queries.get<{ id: number }>("SELECT id FROM environments WHERE account_id = $1 AND name = $2", [
    accountId,
    name,
  ]);
  if (row === undefined) throw new Error(`The account ${accountId} has no ${name} environment.`);
  return row.id;
}

/** An environment with its account. */
export async function tenantOf(queries: Queries, environment: number) {
  const row = await queries.get<{ name: Environment } & Record<"account_id" | "account_name" | "version", string>>(
    `SELECT v.name, a.id AS account_id, a.name AS account_name, a.version
     FROM environments v JOIN accounts a ON a.id = v.account_id WHERE v.id = $1`,
    [environment],
  );
  if (row === undefined) throw new Error(`No environment has the number ${environment}.`);
  const account = { id: row.account_id, name: row.account_name, version: row.version };
  return { environment, name: row.name, livemode: row.name === "live", account };
}

export function accountOfUser(queries: Queries, userId: string): Promise<AccountRow | undefined> {
  return queries.get<AccountRow>(
    `SELECT a.id, a.name, a.version, a.created FROM accounts a JOIN users u ON u.account_id = a.id WHERE u.id = $1`,
    [userId],
  );
}
