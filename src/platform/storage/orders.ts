import type { StatusOf } from "../../contract/resources.ts";
import type { Queries, Transaction } from "./database.ts";
import { type PageRequest, readPage } from "./page.ts";

export interface OrderRow {
  environment: number;
  id: string;
  amount: number;
  currency: string;
  status: StatusOf<"order">;
  customer: string | null;
  metadata: string;
  created: number;
}

const COLUMNS = "environment, id, amount, currency, status, customer, metadata, created";

export async function insertOrder(tx: Transaction, row: OrderRow): Promise<void> {
  await tx.run(`INSERT INTO orders (${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`, [
    row.environment,
    row.id,
    row.amount,
    row.currency,
    row.status,
    row.customer,
    row.metadata,
    row.created,
  ]);
}

/** Moves a pending order; false where it is not pending (any more) or not there. */
export async function settleOrder(tx: Transaction, environment: number, id: string, status: StatusOf<"order">) {
  const moved = await tx.run(
    "UPDATE orders SET status = $3 WHERE environment = $1 AND id = $2 AND status = 'pending'",
    [environment, id, status],
  );
  return moved === 1;
}

export function findOrder(queries: Queries, environment: number, id: string): Promise<OrderRow | undefined> {
  return queries.get(`SELECT ${COLUMNS} FROM orders WHERE environment = $1 AND id = $2`, [environment, id]);
}

export function listOrders(
  queries: Queries,
  page: PageRequest,
  filters: { status?: StatusOf<"order"> | undefined; customer?: string | undefined },
): Promise<OrderRow[]> {
  return readPage<OrderRow>(queries, "orders", COLUMNS, page, filters);
}
