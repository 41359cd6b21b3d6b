import type { StatusOf } from "../../contract/resources.ts";
import type { Queries, Transaction } from "./database.ts";
import { type PageRequest, readPage } from "./page.ts";

export interface PaymentRow {
  environment: number;
  id: string;
  amount: number;
  currency: string;
  status: StatusOf<"payment">;
  order_id: string | null;
  failure_code: string | null;
  metadata: string;
  created: number;
}

const COLUMNS = "environment, id, amount, currency, status, order_id, failure_code, metadata, created";

export async function insertPayment(tx: Transaction, row: PaymentRow): Promise<void> {
  await tx.run(`INSERT INTO payments (${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`, [
    row.environment,
    row.id,
    row.amount,
    row.currency,
    row.status,
    row.order_id,
    row.failure_code,
    row.metadata,
    row.created,
  ]);
}

/** Moves a pending payment; false where it is not pending (any more) or not there. */
export async function settlePayment(
  tx: Transaction,
  environment: number,
  id: string,
  status: StatusOf<"payment">,
  failureCode: string | null,
): Promise<boolean> {
  const moved = await tx.run(
    `UPDATE payments SET status = $3, failure_code = $4
     WHERE environment = $1 AND id = $2 AND status = 'pending'`,
    [environment, id, status, failureCode],
  );
  return moved === 1;
}

export function findPayment(queries: Queries, environment: number, id: string): Promise<PaymentRow | undefined> {
  return queries.get(`SELECT ${COLUMNS} FROM payments WHERE environment = $1 AND id = $2`, [environment, id]);
}

export function listPayments(
  queries: Queries,
  page: PageRequest,
  filters: { status?: StatusOf<"payment"> | undefined; order_id?: string | undefined },
): Promise<PaymentRow[]> {
  return readPage<PaymentRow>(queries, "payments", COLUMNS, page, filters);
}
