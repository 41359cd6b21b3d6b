import {
  DeletedSession,
  DeletedUser,
  Identity,
  type OAuthGrant,
  OAuthGrantList,
  RevokedOAuthGrant,
  type Session,
  SessionList,
  User,
  UserInvite,
  UserList,
  VersionList,
} from "../../../contract/schemas/account.ts";
import { formatTimestamp } from "../../../contract/timestamps.ts";
import { assertId, missing } from "../../domain/api-error.ts";
import { type InviteTools, inviteUser, listUsers, removeUser } from "../../domain/users.ts";
import type { Versions } from "../../domain/versions.ts";
import { type Operation, readOperation, writeOperation } from "../operation.ts";
import type { Clock } from "../../ports.ts";
import { liveGrantsOfUser, revokeGrantOfUser } from "../../storage/oauth-grants.ts";
import { deleteSessionOfUser, sessionsOfUser } from "../../storage/sessions.ts";

export function userOperations(tools: InviteTools): Operation[] {
  return [
    readOperation({
      name: "listUsers",
      summary: "List the users of the account",
      method: "GET",
      path: "/v1/users",
      scope: null,
      session: "member",
      response: { status: 200, schema: UserList },
      read: async ({ caller }, queries) => wholeList(await listUsers(queries, caller.tenant, caller.user!.id)),
    }),
    writeOperation({
      name: "inviteUser",
      summary: "Invite a user to the account; only this response shows the link",
      method: "POST",
      path: "/v1/users",
      scope: null,
      session: "owner",
      body: UserInvite,
      errors: ["email_taken"],
      response: { status: 201, schema: User },
      write: ({ caller, body }, tx) => inviteUser(tx, tools, caller.tenant.account.id, body.email),
    }),
    writeOperation({
      name: "removeUser",
      summary: "Remove a member with all sessions and grants; lists the API keys that they created",
      method: "DELETE",
      path: "/v1/users/{id}",
      scope: null,
      session: "owner",
      response: { status: 200, schema: DeletedUser },
      write: ({ caller, id }, tx) => removeUser(tx, caller.tenant.account.id, id, tools.clock.now()),
    }),
  ];
}

export function sessionOperations(clock: Clock): Operation[] {
  return [
    readOperation({
      name: "listSessions",
      summary: "List your browser sessions",
      method: "GET",
      path: "/v1/sessions",
      scope: null,
      session: "member",
      response: { status: 200, schema: SessionList },
      read: async ({ caller }, queries) => {
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
    }),
    writeOperation({
      name: "endSession",
      summary: "Revoke one of your browser sessions",
      method: "DELETE",
      path: "/v1/sessions/{id}",
      scope: null,
      session: "member",
      response: { status: 200, schema: DeletedSession },
      write: async ({ caller, id }, tx) => {
        assertId("session", id);
        if (!(await deleteSessionOfUser(tx, caller.user!.id, id))) missing("session", id);
        return { id, object: "session", deleted: true };
      },
    }),
  ];
}

export function oauthGrantOperations(clock: Clock): Operation[] {
  return [
    readOperation({
      name: "listOAuthGrants",
      summary: "List the apps that you authorized, in both environments",
      method: "GET",
      path: "/v1/oauth_grants",
      scope: null,
      session: "member",
      response: { status: 200, schema: OAuthGrantList },
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
        return wholeList(data);
      },
    }),
    writeOperation({
      name: "revokeOAuthGrant",
      summary: "Revoke an app's access; its tokens stop working immediately",
      method: "POST",
      path: "/v1/oauth_grants/{id}/revoke",
      scope: null,
      session: "member",
      response: { status: 200, schema: RevokedOAuthGrant },
      write: async ({ caller, id }, tx) => {
        assertId("oauth_grant", id);
        if (!(await revokeGrantOfUser(tx, caller.user!.id, id, clock.now()))) missing("oauth_grant", id);
        return { id, object: "oauth_grant", revoked: true };
      },
    }),
  ];
}

/** Returns the owner of the credential, and the versions that the platform supports. */
export function identityOperations(versions: Versions): Operation[] {
  return [
    readOperation({
      name: "getIdentity",
      summary: "Retrieve the owner of the credential",
      method: "GET",
      path: "/v1/me",
      scope: null,
      response: { status: 200, schema: Identity },
      read: async ({ caller: { tenant, user, credential, scopes } }): Promise<Identity> => ({
        object: "identity",
        account: { id: tenant.account.id, name: tenant.account.name },
        user,
        environment: tenant.name,
        livemode: tenant.livemode,
        credential,
        scopes: [...scopes],
      }),
    }),
    readOperation({
      name: "listVersions",
      summary: "List the supported versions",
      method: "GET",
      path: "/v1/versions",
      scope: null,
      response: {
        status: 200,
        schema: VersionList,
      },
      read: async ({ caller }) => ({
        object: "list",
        data: versions.dates,
        latest: versions.latest,
        pinned: caller.tenant.account.version,
      }),
    }),
  ];
}

/** Returns a list that is short enough for one page. */
function wholeList(data: readonly object[]) {
  return { object: "list", data, has_more: false, next_cursor: null };
}
