import { DeliveryListQuery } from "../../../../contract/schemas/delivery.ts";
import { EventListQuery, EventReplay } from "../../../../contract/schemas/event.ts";
import { closed, idOf } from "../../../../contract/schemas/fields.ts";
import { OBJECT_SCHEMAS } from "../../../../contract/schemas/objects.ts";
import { TestClockAdvance } from "../../../../contract/schemas/test-clock.ts";
import { CLOCK_PATH } from "../../clock.ts";
import { apiTool, type Tool } from "../tool.ts";

const { customer, order } = OBJECT_SCHEMAS;

const CustomerId = idOf("customer", { description: "ID of a customer, cus_…" });

export const CUSTOMER_TOOLS: readonly Tool[] = [
  apiTool({
    name: "create_customer",
    description: "Create a customer. Emits customer.created.",
    scope: "customers:write",
    effect: "changes",
    method: "POST",
    path: "/v1/customers",
    input: customer.create,
  }),
  apiTool({
    name: "list_customers",
    description: "List customers, newest first.",
    scope: "customers:read",
    effect: "reads",
    method: "GET",
    path: "/v1/customers",
    input: customer.query,
  }),
  apiTool({
    name: "get_customer",
    description: "Retrieve a customer.",
    scope: "customers:read",
    effect: "reads",
    method: "GET",
    path: "/v1/customers/{id}",
    input: closed({ id: CustomerId }),
  }),
  apiTool({
    name: "update_customer",
    description: "Update a customer; metadata is merged. Emits customer.updated if something changed.",
    scope: "customers:write",
    effect: "changes",
    method: "PATCH",
    path: "/v1/customers/{id}",
    input: closed({ id: CustomerId, ...customer.update!.properties }),
  }),
  apiTool({
    name: "delete_customer",
    description: "Delete a customer. Emits customer.deleted.",
    scope: "customers:write",
    effect: "removes",
    method: "DELETE",
    path: "/v1/customers/{id}",
    input: closed({ id: CustomerId }),
  }),
];

const OrderId = idOf("order", { description: "ID of an order, ord_…" });

export const ORDER_TOOLS: readonly Tool[] = [
  apiTool({
    name: "create_order",
    description: "Create a pending order. Emits order.created.",
    scope: "orders:write",
    effect: "changes",
    method: "POST",
    path: "/v1/orders",
    input: order.create,
  }),
  apiTool({
    name: "list_orders",
    description: "List orders, newest first.",
    scope: "orders:read",
    effect: "reads",
    method: "GET",
    path: "/v1/orders",
    input: order.query,
  }),
  apiTool({
    name: "get_order",
    description: "Retrieve an order.",
    scope: "orders:read",
    effect: "reads",
    method: "GET",
    path: "/v1/orders/{id}",
    input: closed({ id: OrderId }),
  }),
  apiTool({
    name: "complete_order",
    description: "Complete a pending order. Emits order.completed.",
    scope: "orders:write",
    effect: "changes",
    method: "POST",
    path: "/v1/orders/{id}/complete",
    input: closed({ id: OrderId }),
  }),
  apiTool({
    name: "cancel_order",
    description: "Cancel a pending order. Emits order.canceled.",
    scope: "orders:write",
    effect: "removes",
    method: "POST",
    path: "/v1/orders/{id}/cancel",
    input: closed({ id: OrderId }),
  }),
];

const EventId = idOf("event", { description: "ID of an event, evt_…" });

export const EVENT_TOOLS: readonly Tool[] = [
  apiTool({
    name: "list_events",
    description: "List events, newest first. `type` takes wildcards such as order.*; `related` is the ID of an object.",
    scope: "events:read",
    effect: "reads",
    method: "GET",
    path: "/v1/events",
    input: EventListQuery,
  }),
  apiTool({
    name: "get_event",
    description: "Retrieve an event: the exact JSON that was delivered.",
    scope: "events:read",
    effect: "reads",
    method: "GET",
    path: "/v1/events/{id}",
    input: closed({ id: EventId }),
  }),
  apiTool({
    name: "replay_event",
    description: "Replay an event of the last 30 days to all subscribed endpoints, or to one of them.",
    scope: "events:write",
    effect: "changes",
    method: "POST",
    path: "/v1/events/{id}/replay",
    input: closed({ id: EventId, ...EventReplay.properties }),
  }),
];

const DeliveryId = idOf("delivery", { description: "ID of a delivery, dlv_…" });

export const DELIVERY_TOOLS: readonly Tool[] = [
  apiTool({
    name: "list_deliveries",
    description: "List deliveries, newest first, by endpoint, event or status.",
    scope: "deliveries:read",
    effect: "reads",
    method: "GET",
    path: "/v1/deliveries",
    input: DeliveryListQuery,
  }),
  apiTool({
    name: "get_delivery",
    description: "Retrieve a delivery with its attempts and their responses.",
    scope: "deliveries:read",
    effect: "reads",
    method: "GET",
    path: "/v1/deliveries/{id}",
    input: closed({ id: DeliveryId }),
  }),
  apiTool({
    name: "retry_delivery",
    description: "Retry a delivery now.",
    scope: "deliveries:write",
    effect: "changes",
    method: "POST",
    path: "/v1/deliveries/{id}/retry",
    input: closed({ id: DeliveryId }),
  }),
];

export const CLOCK_TOOLS: readonly Tool[] = [
  apiTool({
    name: "get_test_clock",
    description: "Show the sandbox's time, its offset from real time, and the progress of an advance.",
    scope: "deliveries:read",
    effect: "reads",
    method: "GET",
    path: CLOCK_PATH,
    input: closed({}),
  }),
  apiTool({
    name: "advance_test_clock",
    description:
      "Advance the sandbox's time and attempt the deliveries that fall due. While the status in the response is " +
      "`advancing`, the advance is still in progress: call get_test_clock until it is not.",
    scope: "deliveries:write",
    effect: "removes",
    method: "POST",
    path: `${CLOCK_PATH}/advance`,
    input: TestClockAdvance,
  }),
];
