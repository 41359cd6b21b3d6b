import { closed, idOf } from "../../../../contract/schemas/fields.ts";
import { OrderCreate, OrderListQuery } from "../../../../contract/schemas/order.ts";
import { apiTool, type Tool } from "../tool.ts";

const Id = idOf("order", { description: "ID of an order, ord_…" });

export const ORDER_TOOLS: readonly Tool[] = [
  apiTool({
    name: "create_order",
    description: "Create a pending order. Emits order.created.",
    scope: "orders:write",
    effect: "changes",
    method: "POST",
    path: "/v1/orders",
    input: OrderCreate,
  }),
  apiTool({
    name: "list_orders",
    description: "List orders, newest first.",
    scope: "orders:read",
    effect: "reads",
    method: "GET",
    path: "/v1/orders",
    input: OrderListQuery,
  }),
  apiTool({
    name: "get_order",
    description: "Retrieve an order.",
    scope: "orders:read",
    effect: "reads",
    method: "GET",
    path: "/v1/orders/{id}",
    input: closed({ id: Id }),
  }),
  apiTool({
    name: "complete_order",
    description: "Complete a pending order. Emits order.completed.",
    scope: "orders:write",
    effect: "changes",
    method: "POST",
    path: "/v1/orders/{id}/complete",
    input: closed({ id: Id }),
  }),
  apiTool({
    name: "cancel_order",
    description: "Cancel a pending order. Emits order.canceled.",
    scope: "orders:write",
    effect: "removes",
    method: "POST",
    path: "/v1/orders/{id}/cancel",
    input: closed({ id: Id }),
  }),
];
