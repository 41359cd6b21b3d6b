import { DeletedUser, User, UserInvite, UserList } from "../../../contract/schemas/account.ts";
import { type InviteTools, inviteUser, listUsers, removeUser } from "../../domain/users.ts";
import { type Operation, readOperation, writeOperation } from "../operation.ts";

export function userOperations(tools: InviteTools): Operation[] {
  return [
    readOperation({
      name: "listUsers",
      summary: "List the users of the account",
      method: "GET",
      path: "/v1/users",
      scope: null,
      session: "member",
      reply: { status: 200, schema: UserList },
      read: async ({ caller }, queries) => ({
        object: "list",
        data: await listUsers(queries, caller.tenant, caller.user!.id),
        has_more: false,
        next_cursor: null,
      }),
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
      reply: { status: 201, schema: User },
      write: ({ caller, body }, tx) => inviteUser(tx, tools, caller.tenant.account.id, body.email),
    }),
    writeOperation({
      name: "removeUser",
      summary: "Remove a member with all sessions and grants; lists the API keys that they created",
      method: "DELETE",
      path: "/v1/users/{id}",
      scope: null,
      session: "owner",
      reply: { status: 200, schema: DeletedUser },
      write: ({ caller, id }, tx) => removeUser(tx, caller.tenant.account.id, id, tools.clock.now()),
    }),
  ];
}
