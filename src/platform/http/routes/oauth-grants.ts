import { type OAuthGrant, OAuthGrantList, RevokedOAuthGrant } from "../../../contract/schemas/account.ts";
import { formatTimestamp } from "../../../contract/timestamps.ts";
import { assertId, missing } from "../../domain/api-error.ts";
import type { Clock } from "../../ports.ts";
import { liveGrantsOfUser, revokeGrantOfUser } from "../../storage/oauth-grants.ts";
import { type Operation, readOperation, writeOperation } from "../operation.ts";

export function oauthGrantOperations(clock: Clock): Operation[] {
  return [
    readOperation({
      name: "listOAuthGrants",
      summary: "List the apps that you authorized, in both environments",
      method: "GET",
      path: "/v1/oauth_grants",
      scope: null,
      session: "member",
      reply: { status: 200, schema: OAuthGrantList },
      read: async ({ caller }, queries) => {
        const rows = await liveGrantsOfUser(queries, caller.user!.id, clock.now());
        const data = rows.map((row): OAuthGrant => ({
          id: row.id,
          object: "oauth_grant",
          app_name: row.app_name,
          environment: row.environment_name,
          scopes: JSON.parse(row.scopes) as string[],
          created: formatTimestamp(row.created),
        }));
        return { object: "list", data, has_more: false, next_cursor: null };
      },
    }),
    writeOperation({
      name: "revokeOAuthGrant",
      summary: "Revoke an app's access; its tokens stop working immediately",
      method: "POST",
      path: "/v1/oauth_grants/{id}/revoke",
      scope: null,
      session: "member",
      reply: { status: 200, schema: RevokedOAuthGrant },
      write: async ({ caller, id }, tx) => {
        assertId("oauth_grant", id);
        if (!(await revokeGrantOfUser(tx, caller.user!.id, id, clock.now()))) missing("oauth_grant", id);
        return { id, object: "oauth_grant", revoked: true };
      },
    }),
  ];
}
