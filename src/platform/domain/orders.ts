import type { Order, OrderCreate, OrderListQuery } from "../../contract/schemas/order.ts";
import { formatTimestamp } from "../../contract/timestamps.ts";
import { findCustomer } from "../storage/customers.ts";
import type { Queries, Transaction } from "../storage/database.ts";
import { findOrder, insertOrder, listOrders, type OrderRow, settleOrder } from "../storage/orders.ts";
import type { PageRequest } from "../storage/page.ts";
import { ApiError, invalidFields } from "./api-error.ts";
import { emit } from "./events.ts";
import { parseMetadata } from "./metadata.ts";
import { assertId, missing } from "./missing.ts";
import type { Occasion, Tenant } from "./occasion.ts";

export async function createOrder(tx: Transaction, occasion: Occasion, input: OrderCreate): Promise<Order> {
  const { environment } = occasion.tenant;
  const customer = input.customer ?? null;
  if (customer !== null && !(await findCustomer(tx, environment, customer))) {
    throw invalidFields([{ pointer: "/customer", code: "unknown", detail: `no customer has the id ${customer}` }]);
  }
  const row: OrderRow = {
    environment,
    id: occasion.newId("order"),
    amount: input.amount,
    currency: input.currency,
    status: "pending",
    customer,
    metadata: JSON.stringify(input.metadata ?? {}),
    created: occasion.now,
  };
  await insertOrder(tx, row);
  const order = toOrder(row, occasion.tenant);
  await emit(tx, occasion, { type: "order.created", object: order });
  return order;
}

export function completeOrder(tx: Transaction, occasion: Occasion, id: string): Promise<Order> {
  return settle(tx, occasion, id, "completed");
}

export function cancelOrder(tx: Transaction, occasion: Occasion, id: string): Promise<Order> {
  return settle(tx, occasion, id, "canceled");
}

export async function getOrder(queries: Queries, tenant: Tenant, id: string): Promise<Order> {
  return toOrder(await existing(queries, tenant, id), tenant);
}

export async function pageOfOrders(
  queries: Queries,
  tenant: Tenant,
  page: PageRequest,
  { status, customer }: OrderListQuery,
): Promise<Order[]> {
  return (await listOrders(queries, page, { status, customer })).map((row) => toOrder(row, tenant));
}

async function settle(
  tx: Transaction,
  occasion: Occasion,
  id: string,
  status: "completed" | "canceled",
): Promise<Order> {
  const { tenant } = occasion;
  assertId("order", id);
  const moved = await settleOrder(tx, tenant.environment, id, status);
  const row = await existing(tx, tenant, id);
  if (!moved) {
    throw new ApiError("invalid_transition", `Order ${id} is ${row.status}: only a pending order can be ${status}.`, {
      members: { current: row.status },
    });
  }
  const order = toOrder(row, tenant);
  await emit(tx, occasion, { type: `order.${status}`, object: order });
  return order;
}

async function existing(queries: Queries, tenant: Tenant, id: string): Promise<OrderRow> {
  assertId("order", id);
  return (await findOrder(queries, tenant.environment, id)) ?? missing("order", id);
}

function toOrder(row: OrderRow, tenant: Tenant): Order {
  return {
    id: row.id,
    object: "order",
    amount: row.amount,
    currency: row.currency,
    status: row.status,
    customer: row.customer,
    metadata: parseMetadata(row.metadata),
    livemode: tenant.livemode,
    created: formatTimestamp(row.created),
  };
}
