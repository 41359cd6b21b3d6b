import { ApiKey, ApiKeyCreate, ApiKeyList, ApiKeyListQuery, ApiKeyUpdate } from "../../../contract/schemas/api-key.ts";
import {
  changeApiKey,
  createApiKey,
  endApiKey,
  getApiKey,
  pageOfApiKeys,
  rollApiKey,
  type SecretTools,
} from "../../domain/api-keys.ts";
import { sendList, asJson } from "../pagination.ts";
import { type Operation, readOperation, writeOperation } from "../operation.ts";

export function apiKeyOperations(tools: SecretTools): Operation[] {
  return [
    writeOperation({
      name: "createApiKey",
      summary: "Create an API key; it is shown once",
      method: "POST",
      path: "/v1/api_keys",
      scope: "api_keys:write",
      body: ApiKeyCreate,
      errors: ["insufficient_scope", "exceeds_maker"],
      response: { status: 201, schema: ApiKey },
      write: ({ caller, body }, tx, context) => createApiKey(tx, tools, context, caller, body),
    }),
    readOperation({
      name: "listApiKeys",
      summary: "List API keys, newest first",
      method: "GET",
      path: "/v1/api_keys",
      scope: "api_keys:read",
      query: ApiKeyListQuery,
      response: { status: 200, schema: ApiKeyList },
      read: (call, queries) =>
        sendList(
          tools.vault,
          "api_key",
          call,
          (page) => pageOfApiKeys(queries, call.caller.tenant, page),
          asJson(ApiKey),
        ),
    }),
    readOperation({
      name: "getApiKey",
      summary: "Retrieve an API key, without its secret",
      method: "GET",
      path: "/v1/api_keys/{id}",
      scope: "api_keys:read",
      response: { status: 200, schema: ApiKey },
      read: ({ caller, id }, queries) => getApiKey(queries, caller.tenant, id),
    }),
    writeOperation({
      name: "updateApiKey",
      summary: "Update the name, scopes, address ranges or expiry of an API key",
      method: "PATCH",
      path: "/v1/api_keys/{id}",
      scope: "api_keys:write",
      body: ApiKeyUpdate,
      errors: ["insufficient_scope", "exceeds_maker", "key_not_usable"],
      response: { status: 200, schema: ApiKey },
      write: ({ caller, id, body }, tx, context) => changeApiKey(tx, context, caller, id, body),
    }),
    writeOperation({
      name: "revokeApiKey",
      summary: "Revoke an API key",
      method: "POST",
      path: "/v1/api_keys/{id}/revoke",
      scope: "api_keys:write",
      response: { status: 200, schema: ApiKey },
      write: ({ id }, tx, context) => endApiKey(tx, context, id),
    }),
    writeOperation({
      name: "rollApiKey",
      summary: "Replace an API key with a new one; the old one is revoked immediately",
      method: "POST",
      path: "/v1/api_keys/{id}/roll",
      scope: "api_keys:write",
      errors: ["insufficient_scope", "exceeds_maker", "key_not_usable"],
      response: { status: 201, schema: ApiKey },
      write: ({ caller, id }, tx, context) => rollApiKey(tx, tools, context, caller, id),
    }),
  ];
}
