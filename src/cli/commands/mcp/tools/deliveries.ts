import { DeliveryListQuery } from "../../../../contract/schemas/delivery.ts";
import { closed, idOf } from "../../../../contract/schemas/fields.ts";
import { apiTool, type Tool } from "../tool.ts";

const Id = idOf("delivery", { description: "ID of a delivery, dlv_…" });

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
    input: closed({ id: Id }),
  }),
  apiTool({
    name: "retry_delivery",
    description: "Retry a delivery now.",
    scope: "deliveries:write",
    effect: "changes",
    method: "POST",
    path: "/v1/deliveries/{id}/retry",
    input: closed({ id: Id }),
  }),
];
