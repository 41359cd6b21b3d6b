import {
  RequestLog,
  RequestLogDetail,
  RequestLogList,
  RequestLogListQuery,
} from "../../../contract/schemas/request-log.ts";
import { getRequestLog, pageOfRequestLogs } from "../../domain/request-logs.ts";
import type { Vault } from "../../secrets/vault.ts";
import type { RequestRecorder } from "../../observability/request-recorder.ts";
import { sendList, asJson } from "../pagination.ts";
import { narrowed } from "../search.ts";
import { type Operation, readOperation } from "../operation.ts";

export const REQUEST_LOGS_PATH = "/v1/request_logs";
export const REQUEST_LOG_PATH = `${REQUEST_LOGS_PATH}/{id}`;

/** `operationAt` returns the operation that a logged request called. */
export function requestLogOperations(
  vault: Vault,
  requests: RequestRecorder,
  operationAt: (request: { method: string; path: string }) => Operation | undefined,
): Operation[] {
  return [
    readOperation({
      name: "listRequestLogs",
      summary: "List the API requests of the last 7 days, newest first",
      method: "GET",
      path: REQUEST_LOGS_PATH,
      scope: "request_logs:read",
      query: RequestLogListQuery,
      response: { status: 200, schema: RequestLogList },
      read: async (call, queries) => {
        // Anyone who has received a response finds its request here.
        await requests.flush();
        return sendList(
          vault,
          "request",
          call,
          (page) => pageOfRequestLogs(queries, call.caller.tenant, page, narrowed(call.query, { api_key: "key" })),
          asJson(RequestLog),
        );
      },
    }),
    readOperation({
      name: "getRequestLog",
      summary: "Retrieve an API request with its headers and bodies",
      method: "GET",
      path: REQUEST_LOG_PATH,
      scope: "request_logs:read",
      response: { status: 200, schema: RequestLogDetail },
      read: async ({ caller, id }, queries) => {
        await requests.flush();
        return getRequestLog(queries, caller.tenant, id, (request) => {
          const { scope = null, session } = operationAt(request) ?? {};
          if (session !== undefined && caller.credential.kind !== "session") return "session";
          return scope === null || caller.scopes.includes(scope) ? null : scope;
        });
      },
    }),
  ];
}
