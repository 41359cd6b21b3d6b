import { DeletedSession, type Session, SessionList } from "../../../contract/schemas/account.ts";
import { formatTimestamp } from "../../../contract/timestamps.ts";
import { assertId, missing } from "../../domain/api-error.ts";
import type { Clock } from "../../ports.ts";
import { deleteSessionOfUser, sessionsOfUser } from "../../storage/sessions.ts";
import { type Operation, readOperation, writeOperation } from "../operation.ts";

export function sessionOperations(clock: Clock): Operation[] {
  return [
    readOperation({
      name: "listSessions",
      summary: "List your browser sessions",
      method: "GET",
      path: "/v1/sessions",
      scope: null,
      session: "member",
      reply: { status: 200, schema: SessionList },
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
        return { object: "list", data, has_more: false, next_cursor: null };
      },
    }),
    writeOperation({
      name: "endSession",
      summary: "Revoke one of your browser sessions",
      method: "DELETE",
      path: "/v1/sessions/{id}",
      scope: null,
      session: "member",
      reply: { status: 200, schema: DeletedSession },
      write: async ({ caller, id }, tx) => {
        assertId("session", id);
        if (!(await deleteSessionOfUser(tx, caller.user!.id, id))) missing("session", id);
        return { id, object: "session", deleted: true };
      },
    }),
  ];
}
