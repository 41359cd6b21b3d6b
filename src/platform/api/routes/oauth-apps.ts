import type { SecretTools } from "../../domain/api-keys.ts";
import {
  changeOAuthApp,
  createOAuthApp,
  getOAuthApp,
  pageOfOAuthApps,
  removeOAuthApp,
  rotateClientSecret,
} from "../../domain/oauth-apps.ts";
import type { Handlers } from "../operation.ts";
import { sendList } from "../../http/pagination.ts";

/** The CLI's own app belongs to no environment, so none of these operations finds it. */
export function oauthAppHandlers(tools: SecretTools): Handlers<"oauth_apps"> {
  return {
    createOAuthApp: ({ body }, tx, context) => createOAuthApp(tx, tools, context, body),
    listOAuthApps: (call, queries) =>
      sendList(tools.vault, "oauth_app", call, (page) => pageOfOAuthApps(queries, call.caller.tenant, page)),
    getOAuthApp: ({ caller, id }, queries) => getOAuthApp(queries, caller.tenant, id),
    updateOAuthApp: ({ id, body }, tx, context) => changeOAuthApp(tx, context, id, body),
    deleteOAuthApp: ({ id }, tx, context) => removeOAuthApp(tx, context, id),
    rotateOAuthAppSecret: ({ id }, tx, context) => rotateClientSecret(tx, tools, context, id),
  };
}
