import {
  BulkOperation,
  BulkOperationList,
  BulkOperationListQuery,
  DeliveryBulkRetry,
  EventBulkReplay,
} from "../../../contract/schemas/bulk-operation.ts";
import {
  cancelBulkOperation,
  createBulkOperation,
  getBulkOperation,
  pageOfBulkOperations,
} from "../../domain/bulk-operations.ts";
import type { Vault } from "../../secrets/vault.ts";
import { type Operation, readOperation, writeOperation } from "../operation.ts";
import { sendList } from "../pagination.ts";

/** Reading an operation requires the scope to read deliveries, canceling it the scope to retry them. */
export function bulkOperations(vault: Vault): Operation[] {
  return [
    writeOperation({
      name: "retryDeliveries",
      summary: "Retry all matching deliveries in the background",
      method: "POST",
      path: "/v1/deliveries/retry",
      scope: "deliveries:write",
      body: DeliveryBulkRetry,
      response: { status: 201, schema: BulkOperation },
      write: ({ body }, tx, context) => createBulkOperation(tx, context, "deliveries.retry", body),
    }),
    writeOperation({
      name: "replayEvents",
      summary: "Replay all matching events in the background",
      method: "POST",
      path: "/v1/events/replay",
      scope: "events:write",
      body: EventBulkReplay,
      response: { status: 201, schema: BulkOperation },
      write: ({ body }, tx, context) => createBulkOperation(tx, context, "events.replay", body),
    }),
    readOperation({
      name: "listBulkOperations",
      summary: "List bulk operations, newest first",
      method: "GET",
      path: "/v1/bulk_operations",
      scope: "deliveries:read",
      query: BulkOperationListQuery,
      response: { status: 200, schema: BulkOperationList },
      read: (call, queries) =>
        sendList(
          vault,
          "bulk_operation",
          call,
          (page) => pageOfBulkOperations(queries, call.caller.tenant, page),
          (item) => JSON.stringify(item),
        ),
    }),
    readOperation({
      name: "getBulkOperation",
      summary: "Retrieve a bulk operation and its progress",
      method: "GET",
      path: "/v1/bulk_operations/{id}",
      scope: "deliveries:read",
      response: { status: 200, schema: BulkOperation },
      read: ({ caller, id }, queries) => getBulkOperation(queries, caller.tenant, id),
    }),
    writeOperation({
      name: "cancelBulkOperation",
      summary: "Cancel a bulk operation",
      method: "POST",
      path: "/v1/bulk_operations/{id}/cancel",
      scope: "deliveries:write",
      response: { status: 200, schema: BulkOperation },
      write: ({ id }, tx, context) => cancelBulkOperation(tx, context, id),
    }),
  ];
}
