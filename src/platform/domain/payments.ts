import { RESOURCES } from "../../contract/resources.ts";
import type { Payment, PaymentCreate, PaymentFail, PaymentListQuery } from "../../contract/schemas/payment.ts";
import { formatTimestamp } from "../../contract/timestamps.ts";
import type { Queries, Transaction } from "../storage/database.ts";
import { findOrder } from "../storage/orders.ts";
import type { PageRequest } from "../storage/page.ts";
import { findPayment, insertPayment, listPayments, type PaymentRow, settlePayment } from "../storage/payments.ts";
import { ApiError, invalidFields } from "./api-error.ts";
import { emit } from "./events.ts";
import { parseMetadata } from "./metadata.ts";
import { assertId, missing } from "./missing.ts";
import type { Occasion, Tenant } from "./occasion.ts";

export async function createPayment(tx: Transaction, occasion: Occasion, input: PaymentCreate): Promise<Payment> {
  const { environment } = occasion.tenant;
  const order = input.order ?? null;
  if (order !== null && !(await findOrder(tx, environment, order))) {
    throw invalidFields([{ pointer: "/order", code: "unknown", detail: `no order has the id ${order}` }]);
  }
  const row: PaymentRow = {
    environment,
    id: occasion.newId("payment"),
    amount: input.amount,
    currency: input.currency,
    status: "pending",
    order_id: order,
    failure_code: null,
    metadata: JSON.stringify(input.metadata ?? {}),
    created: occasion.now,
  };
  await insertPayment(tx, row);
  const payment = toPayment(row, occasion.tenant);
  await emit(tx, occasion, { type: "payment.created", object: payment });
  return payment;
}

export function succeedPayment(tx: Transaction, occasion: Occasion, id: string): Promise<Payment> {
  return settle(tx, occasion, id, "succeeded", null);
}

export function failPayment(tx: Transaction, occasion: Occasion, id: string, input: PaymentFail): Promise<Payment> {
  return settle(tx, occasion, id, "failed", input.failure_code ?? RESOURCES.payment.actions.fail.takes.failure_code);
}

export async function getPayment(queries: Queries, tenant: Tenant, id: string): Promise<Payment> {
  return toPayment(await existing(queries, tenant, id), tenant);
}

export async function pageOfPayments(
  queries: Queries,
  tenant: Tenant,
  page: PageRequest,
  { status, order }: PaymentListQuery,
): Promise<Payment[]> {
  return (await listPayments(queries, page, { status, order_id: order })).map((row) => toPayment(row, tenant));
}

async function settle(
  tx: Transaction,
  occasion: Occasion,
  id: string,
  status: "succeeded" | "failed",
  failureCode: string | null,
): Promise<Payment> {
  const { tenant } = occasion;
  assertId("payment", id);
  const moved = await settlePayment(tx, tenant.environment, id, status, failureCode);
  const row = await existing(tx, tenant, id);
  if (!moved) {
    throw new ApiError("invalid_transition", `Payment ${id} is ${row.status}: only a pending payment can move.`, {
      members: { current: row.status },
    });
  }
  const payment = toPayment(row, tenant);
  await emit(tx, occasion, { type: `payment.${status}`, object: payment });
  return payment;
}

async function existing(queries: Queries, tenant: Tenant, id: string): Promise<PaymentRow> {
  assertId("payment", id);
  return (await findPayment(queries, tenant.environment, id)) ?? missing("payment", id);
}

function toPayment(row: PaymentRow, tenant: Tenant): Payment {
  return {
    id: row.id,
    object: "payment",
    amount: row.amount,
    currency: row.currency,
    status: row.status,
    order: row.order_id,
    failure_code: row.failure_code,
    metadata: parseMetadata(row.metadata),
    livemode: tenant.livemode,
    created: formatTimestamp(row.created),
  };
}
