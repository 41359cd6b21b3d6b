import { Delivery, DeliveryList, DeliveryListQuery } from "../../../contract/schemas/delivery.ts";
import { cancelPending, getDelivery, pageOfDeliveries, retryDelivery } from "../../domain/deliveries.ts";
import { allEndpoints } from "../../domain/webhook-endpoints.ts";
import type { Vault } from "../../secrets/vault.ts";
import { sendList, asJson } from "../pagination.ts";
import { narrowed } from "../search.ts";
import { type Operation, readOperation, writeOperation } from "../operation.ts";

const REFERENCES = { event: "event", webhook_endpoint: "endpoint" } as const;

export function deliveryOperations(vault: Vault): Operation[] {
  return [
    readOperation({
      name: "listDeliveries",
      summary: "List deliveries, newest first",
      method: "GET",
      path: "/v1/deliveries",
      scope: "deliveries:read",
      query: DeliveryListQuery,
      response: { status: 200, schema: DeliveryList },
      read: async (call, queries) => {
        const { caller, query } = call;
        const endpoints = query.query === undefined ? [] : await allEndpoints(queries, caller.tenant);
        const byId = new Map(endpoints.map((endpoint) => [endpoint.id, endpoint]));
        return sendList(
          vault,
          "delivery",
          call,
          (page) => pageOfDeliveries(queries, caller.tenant, page, narrowed(query, REFERENCES)),
          asJson(Delivery),
          {
            valuesOf: (delivery) => {
              const { url, description } = byId.get(delivery.endpoint ?? "") ?? {};
              return { ...delivery, url, description };
            },
          },
        );
      },
    }),
    readOperation({
      name: "getDelivery",
      summary: "Retrieve a delivery with its attempts",
      method: "GET",
      path: "/v1/deliveries/{id}",
      scope: "deliveries:read",
      response: { status: 200, schema: Delivery },
      read: ({ caller, id }, queries) => getDelivery(queries, caller.tenant, id),
    }),
    writeOperation({
      name: "retryDelivery",
      summary: "Retry a pending, failed or canceled delivery now",
      method: "POST",
      path: "/v1/deliveries/{id}/retry",
      scope: "deliveries:write",
      errors: ["delivery_not_retryable", "endpoint_disabled", "endpoint_deleted", "event_expired", "event_damaged"],
      response: { status: 200, schema: Delivery },
      write: ({ id }, tx, context) => retryDelivery(tx, context, id),
    }),
    writeOperation({
      name: "cancelDelivery",
      summary: "Cancel a pending delivery",
      method: "POST",
      path: "/v1/deliveries/{id}/cancel",
      scope: "deliveries:write",
      isolation: "read committed",
      errors: ["delivery_not_cancelable"],
      response: { status: 200, schema: Delivery },
      write: ({ id }, tx, context) => cancelPending(tx, context, id),
    }),
  ];
}
