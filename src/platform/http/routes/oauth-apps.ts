import {
  DeletedOAuthApp,
  OAuthApp,
  OAuthAppCreate,
  OAuthAppList,
  OAuthAppListQuery,
  OAuthAppUpdate,
} from "../../../contract/schemas/oauth-app.ts";
import type { SecretTools } from "../../domain/api-keys.ts";
import {
  changeOAuthApp,
  createOAuthApp,
  getOAuthApp,
  pageOfOAuthApps,
  removeOAuthApp,
  rotateClientSecret,
} from "../../domain/oauth-apps.ts";
import { sendList, asJson } from "../pagination.ts";
import { type Operation, readOperation, writeOperation } from "../operation.ts";

/** The CLI's own app belongs to no environment, so none of these operations finds it. */
export function oauthAppOperations(tools: SecretTools): Operation[] {
  return [
    writeOperation({
      name: "createOAuthApp",
      summary: "Register an OAuth app; its secret is shown once",
      method: "POST",
      path: "/v1/oauth_apps",
      scope: "oauth_apps:write",
      body: OAuthAppCreate,
      response: { status: 201, schema: OAuthApp },
      write: ({ body }, tx, context) => createOAuthApp(tx, tools, context, body),
    }),
    readOperation({
      name: "listOAuthApps",
      summary: "List OAuth apps, newest first",
      method: "GET",
      path: "/v1/oauth_apps",
      scope: "oauth_apps:read",
      query: OAuthAppListQuery,
      response: { status: 200, schema: OAuthAppList },
      read: (call, queries) =>
        sendList(
          tools.vault,
          "oauth_app",
          call,
          (page) => pageOfOAuthApps(queries, call.caller.tenant, page),
          asJson(OAuthApp),
        ),
    }),
    readOperation({
      name: "getOAuthApp",
      summary: "Retrieve an OAuth app",
      method: "GET",
      path: "/v1/oauth_apps/{id}",
      scope: "oauth_apps:read",
      response: { status: 200, schema: OAuthApp },
      read: ({ caller, id }, queries) => getOAuthApp(queries, caller.tenant, id),
    }),
    writeOperation({
      name: "updateOAuthApp",
      summary: "Update an OAuth app",
      method: "PATCH",
      path: "/v1/oauth_apps/{id}",
      scope: "oauth_apps:write",
      body: OAuthAppUpdate,
      response: { status: 200, schema: OAuthApp },
      write: ({ id, body }, tx, context) => changeOAuthApp(tx, context, id, body),
    }),
    writeOperation({
      name: "deleteOAuthApp",
      summary: "Delete an OAuth app and revoke its access",
      method: "DELETE",
      path: "/v1/oauth_apps/{id}",
      scope: "oauth_apps:write",
      response: { status: 200, schema: DeletedOAuthApp },
      write: ({ id }, tx, context) => removeOAuthApp(tx, context, id),
    }),
    writeOperation({
      name: "rotateOAuthAppSecret",
      summary: "Rotate the secret of an OAuth app; the old one stops working immediately",
      method: "POST",
      path: "/v1/oauth_apps/{id}/rotate_secret",
      scope: "oauth_apps:write",
      errors: ["app_is_public"],
      response: { status: 200, schema: OAuthApp },
      write: ({ id }, tx, context) => rotateClientSecret(tx, tools, context, id),
    }),
  ];
}
