import type { Queries, Transaction } from "./database.ts";
import { type PageRequest, readPage } from "./page.ts";

export interface CustomerRow {
  environment: number;
  id: string;
  email: string;
  /** The email in lower case: what is unique. */
  email_key: string;
  name: string | null;
  phone: string | null;
  /** JSON object of string pairs. */
  metadata: string;
  created: number;
}

const COLUMNS = "environment, id, email, email_key, name, phone, metadata, created";

/** False where the email is taken in the environment: then nothing was written. */
export async function insertCustomer(tx: Transaction, row: CustomerRow): Promise<boolean> {
  const inserted = await tx.run(
    `INSERT INTO customers (${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING`,
    [row.environment, row.id, row.email, row.email_key, row.name, row.phone, row.metadata, row.created],
  );
  return inserted === 1;
}

export async function updateCustomer(tx: Transaction, row: CustomerRow): Promise<void> {
  await tx.run(
    `UPDATE customers SET email = $3, email_key = $4, name = $5, phone = $6, metadata = $7
     WHERE environment = $1 AND id = $2`,
    [row.environment, row.id, row.email, row.email_key, row.name, row.phone, row.metadata],
  );
}

export async function deleteCustomer(tx: Transaction, environment: number, id: string): Promise<void> {
  await tx.run("DELETE FROM customers WHERE environment = $1 AND id = $2", [environment, id]);
}

export function findCustomer(queries: Queries, environment: number, id: string): Promise<CustomerRow | undefined> {
  return queries.get(`SELECT ${COLUMNS} FROM customers WHERE environment = $1 AND id = $2`, [environment, id]);
}

export function findCustomerByEmail(queries: Queries, environment: number, emailKey: string) {
  return queries.get<CustomerRow>(`SELECT ${COLUMNS} FROM customers WHERE environment = $1 AND email_key = $2`, [
    environment,
    emailKey,
  ]);
}

export function listCustomers(queries: Queries, page: PageRequest, emailKey: string | undefined) {
  return readPage<CustomerRow>(queries, "customers", COLUMNS, page, { email_key: emailKey });
}
