import { Order, OrderCreate, OrderList, OrderListQuery } from "../../../contract/schemas/order.ts";
import { cancelOrder, completeOrder, createOrder, getOrder, pageOfOrders } from "../../domain/orders.ts";
import type { Vault } from "../../vault.ts";
import { answerList, asJson } from "../list.ts";
import { type Operation, readOperation, writeOperation } from "../operation.ts";

export function orderOperations(vault: Vault): Operation[] {
  return [
    writeOperation({
      name: "createOrder",
      summary: "Create an order",
      method: "POST",
      path: "/v1/orders",
      additive: true,
      scope: "orders:write",
      body: OrderCreate,
      reply: { status: 201, schema: Order },
      write: ({ body }, tx, occasion) => createOrder(tx, occasion, body),
    }),
    readOperation({
      name: "listOrders",
      summary: "List orders, newest first",
      method: "GET",
      path: "/v1/orders",
      scope: "orders:read",
      query: OrderListQuery,
      reply: { status: 200, schema: OrderList },
      read: (call, queries) =>
        answerList(vault, "order", call, (page) => pageOfOrders(queries, call.caller.tenant, page, call.query), asJson),
    }),
    readOperation({
      name: "getOrder",
      summary: "Retrieve an order",
      method: "GET",
      path: "/v1/orders/{id}",
      scope: "orders:read",
      reply: { status: 200, schema: Order },
      read: ({ caller, id }, queries) => getOrder(queries, caller.tenant, id),
    }),
    writeOperation({
      name: "completeOrder",
      summary: "Complete a pending order",
      method: "POST",
      path: "/v1/orders/{id}/complete",
      scope: "orders:write",
      refusals: ["invalid_transition"],
      reply: { status: 200, schema: Order },
      write: ({ id }, tx, occasion) => completeOrder(tx, occasion, id),
    }),
    writeOperation({
      name: "cancelOrder",
      summary: "Cancel a pending order",
      method: "POST",
      path: "/v1/orders/{id}/cancel",
      scope: "orders:write",
      refusals: ["invalid_transition"],
      reply: { status: 200, schema: Order },
      write: ({ id }, tx, occasion) => cancelOrder(tx, occasion, id),
    }),
  ];
}
