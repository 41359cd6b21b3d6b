import {
  changeApiKey,
  createApiKey,
  endApiKey,
  getApiKey,
  pageOfApiKeys,
  rollApiKey,
  type SecretTools,
} from "../../domain/api-keys.ts";
import type { Handlers } from "../operation.ts";
import { sendList } from "../../http/pagination.ts";

export function apiKeyHandlers(tools: SecretTools): Handlers<"api_keys"> {
  return {
    createApiKey: ({ caller, body }, tx, context) => createApiKey(tx, tools, context, caller, body),
    listApiKeys: (call, queries) =>
      sendList(tools.vault, "api_key", call, (page) => pageOfApiKeys(queries, call.caller.tenant, page)),
    getApiKey: ({ caller, id }, queries) => getApiKey(queries, caller.tenant, id),
    updateApiKey: ({ caller, id, body }, tx, context) => changeApiKey(tx, context, caller, id, body),
    revokeApiKey: ({ id }, tx, context) => endApiKey(tx, context, id),
    rollApiKey: ({ caller, id }, tx, context) => rollApiKey(tx, tools, context, caller, id),
  };
}
