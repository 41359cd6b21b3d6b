import { kindOfId } from "../../../contract/ids.ts";
import { type Operation, OPERATIONS } from "../../../contract/operations.ts";
import { getRequestLog, pageOfRequestLogs } from "../../domain/request-logs.ts";
import type { Vault } from "../../security/vault.ts";
import type { RequestRecorder } from "../../observability/request-recorder.ts";
import type { Handlers } from "../operation.ts";
import { sendList } from "../../http/pagination.ts";
import { narrowed } from "../../http/search.ts";

export function requestLogHandlers(vault: Vault, requests: RequestRecorder): Handlers<"request_logs"> {
  return {
    listRequestLogs: async (call, queries) => {
      // A client that has received a response can find its request here.
      await requests.flush();
      return sendList(vault, "request", call, (page) =>
        pageOfRequestLogs(queries, call.caller.tenant, page, narrowed(call.query, { api_key: "key" })),
      );
    },
    getRequestLog: async ({ caller, id }, queries) => {
      await requests.flush();
      return getRequestLog(queries, caller.tenant, id, (request) => {
        const { scope = null, session } = operationOf(request) ?? {};
        if (session !== undefined && caller.credential.kind !== "session") return "session";
        return scope === null || caller.scopes.includes(scope) ? null : scope;
      });
    },
  };
}

/** Returns the operation that a request with a path, with an ID or `{id}` in it, called. */
function operationOf({ method, path }: { method: string; path: string }): Operation | undefined {
  const template = path
    .split("/")
    .map((part) => (kindOfId(part) === undefined ? part : "{id}"))
    .join("/");
  const route = `${method === "HEAD" ? "GET" : method} ${template}`;
  return OPERATIONS.find((operation) => operation.route === route);
}
