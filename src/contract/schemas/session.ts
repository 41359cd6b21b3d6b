import { type Static, Type } from "typebox";
import { deleted, idOf, listOf, nullable, Timestamp } from "./fields.ts";

/** A browser in which the caller is signed in to the dashboard. */
export const Session = Type.Object(
  {
    id: idOf("session"),
    object: Type.Literal("session"),
    user_agent: nullable(Type.String()),
    by_link: Type.Boolean({ description: "True where a one-time link began it" }),
    is_current: Type.Boolean(),
    created: Timestamp,
    expires_at: Timestamp,
  },
  { $id: "Session", description: "A browser in which you are signed in" },
);
export type Session = Static<typeof Session>;

export const SessionList = listOf(Session, "SessionList");
export const DeletedSession = deleted("session", "DeletedSession");
