import type { Delivery } from "../../../contract/schemas/delivery.ts";
import { createBulkOperation } from "../../domain/bulk-operations.ts";
import { cancelPending, getDelivery, pageOfDeliveries, retryDelivery } from "../../domain/deliveries.ts";
import { allEndpoints } from "../../domain/webhook-endpoints.ts";
import type { Vault } from "../../secrets/vault.ts";
import type { Handlers } from "../operation.ts";
import { sendList } from "../pagination.ts";
import { narrowed } from "../search.ts";

const isRetrying = ({ attempt_count: attempts }: Delivery) => attempts > 0;
const REFERENCES = { event: "event", webhook_endpoint: "endpoint" } as const;

export function deliveryHandlers(vault: Vault): Handlers<"deliveries"> {
  return {
    listDeliveries: async (call, queries) => {
      const { caller, query } = call;
      const endpoints = query.query === undefined ? [] : await allEndpoints(queries, caller.tenant);
      const byId = new Map(endpoints.map((endpoint) => [endpoint.id, endpoint]));
      return sendList(
        vault,
        "delivery",
        call,
        (page) => pageOfDeliveries(queries, caller.tenant, page, narrowed(query, REFERENCES)),
        {
          isMatch: query.status === "retrying" ? isRetrying : undefined,
          valuesOf: (delivery) => {
            const { url, description } = byId.get(delivery.endpoint ?? "") ?? {};
            return { ...delivery, url, description };
          },
        },
      );
    },
    getDelivery: ({ caller, id }, queries) => getDelivery(queries, caller.tenant, id),
    retryDelivery: ({ id }, tx, context) => retryDelivery(tx, context, id),
    cancelDelivery: {
      isolation: "read committed",
      write: ({ id }, tx, context) => cancelPending(tx, context, id),
    },
    retryDeliveries: ({ body }, tx, context) => createBulkOperation(tx, context, "deliveries.retry", body),
  };
}
