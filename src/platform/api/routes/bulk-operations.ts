import { cancelBulkOperation, getBulkOperation, pageOfBulkOperations } from "../../domain/bulk-operations.ts";
import type { Vault } from "../../security/vault.ts";
import type { Handlers } from "../operation.ts";
import { sendList } from "../../http/pagination.ts";

export function bulkOperationHandlers(vault: Vault): Handlers<"bulk_operations"> {
  return {
    listBulkOperations: (call, queries) =>
      sendList(vault, "bulk_operation", call, (page) => pageOfBulkOperations(queries, call.caller.tenant, page)),
    getBulkOperation: ({ caller, id }, queries) => getBulkOperation(queries, caller.tenant, id),
    cancelBulkOperation: ({ id }, tx, context) => cancelBulkOperation(tx, context, id),
  };
}
