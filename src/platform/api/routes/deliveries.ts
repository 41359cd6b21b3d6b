import type { Delivery, DeliveryListQuery } from "../../../contract/schemas/delivery.ts";
import { createBulkOperation } from "../../domain/bulk-operations.ts";
import { cancelPending, getDelivery, pageOfDeliveries, retryDelivery } from "../../domain/deliveries.ts";
import { allEndpoints } from "../../domain/webhook-endpoints.ts";
import type { Vault } from "../../security/vault.ts";
import type { Handlers } from "../operation.ts";
import { sendList } from "../../http/pagination.ts";
import { narrowed } from "../../http/search.ts";

/** Returns whether a delivery matches what no index has: that it is being retried, and its last response. */
function matcherOf({ status, code }: DeliveryListQuery): ((delivery: Delivery) => boolean) | undefined {
  if (status !== "retrying" && code === undefined) return undefined;
  return ({ attempt_count: attempts, last_status_code: last }) => {
    if (attempts === 0) return false;
    if (code === undefined || code === "none") return code === undefined || last === null;
    return code.endsWith("xx") ? Math.trunc((last ?? 0) / 100) === Number(code[0]) : last === Number(code);
  };
}

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
          isMatch: matcherOf(query),
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
