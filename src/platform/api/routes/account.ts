import type { Identity, OAuthGrant, Session } from "../../../contract/schemas/account.ts";
import { formatTimestamp } from "../../../contract/timestamps.ts";
import { assertId, missing } from "../../domain/api-error.ts";
import { type InviteTools, inviteUser, listUsers, removeUser } from "../../domain/users.ts";
import type { Versions } from "../../domain/versions.ts";
import type { Handlers } from "../operation.ts";
import { liveGrantsOfUser, revokeGrantOfUser } from "../../storage/oauth-grants.ts";
import { deleteSessionOfUser, sessionsOfUser } from "../../storage/sessions.ts";

/** The owner of the credential, their account, and what only users who are signed in may see. */
export function accountHandlers(
  tools: InviteTools & { versions: Versions },
): Handlers<"me" | "versions" | "users" | "sessions" | "oauth_grants"> {
  const { clock, versions } = tools;
  return {
    getIdentity: async ({ caller: { tenant, user, credential, scopes } }): Promise<Identity> => ({
      object: "identity",
      account: { id: tenant.account.id, name: tenant.account.name },
      user,
      environment: tenant.name,
      livemode: tenant.livemode,
      credential,
      scopes: [...scopes],
    }),
    listVersions: async ({ caller }) => ({
      object: "list",
      data: versions.dates,
      latest: versions.latest,
      pinned: caller.tenant.account.version,
    }),
    listUsers: async ({ caller }, queries) =>
      wholeList(await listUsers(queries, caller.tenant, caller.user!.id, clock.now())),
    inviteUser: ({ caller, body }, tx) => inviteUser(tx, tools, caller.tenant.account.id, body.email),
    removeUser: ({ caller, id }, tx) => removeUser(tx, caller.tenant.account.id, id, clock.now()),
    listSessions: async ({ caller }, queries) => {
      const rows = await sessionsOfUser(queries, caller.user!.id, clock.now());
      const data = rows.map((row): Session => ({
        id: row.id,
        object: "session",
        user_agent: row.user_agent,
        by_link: row.by_link === 1,
        is_current: row.id === caller.credential.id,
        created: formatTimestamp(row.created),
        expires_at: formatTimestamp(row.expires_at),
      }));
      return wholeList(data);
    },
    endSession: async ({ caller, id }, tx) => {
      assertId("session", id);
      if (!(await deleteSessionOfUser(tx, caller.user!.id, id))) missing("session", id);
      return { id, object: "session", deleted: true };
    },
    listOAuthGrants: async ({ caller }, queries) => {
      const rows = await liveGrantsOfUser(queries, caller.user!.id, clock.now());
      const data = rows.map((row): OAuthGrant => ({
        id: row.id,
        object: "oauth_grant",
        app_name: row.app_name,
        environment: row.environment_name,
        scopes: JSON.parse(row.scopes) as string[],
        created: formatTimestamp(row.created),
      }));
      return wholeList(data);
    },
    revokeOAuthGrant: async ({ caller, id }, tx) => {
      assertId("oauth_grant", id);
      if (!(await revokeGrantOfUser(tx, caller.user!.id, id, clock.now()))) missing("oauth_grant", id);
      return { id, object: "oauth_grant", revoked: true };
    },
  };
}

/** Returns a list that is short enough for one page. */
function wholeList(data: readonly object[]) {
  return { object: "list", data, has_more: false, next_cursor: null };
}
