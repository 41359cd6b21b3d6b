import { type Static, Type } from "typebox";
import { LIMITS } from "../limits.ts";
import { closed, deleted, idOf, listOf, secretShownOnce, Timestamp } from "./fields.ts";

/** A person of the account, who signs in to the dashboard (decisions 1). `invitation_url` stands in the reply to inviting only. */
export const User = Type.Object(
  {
    id: idOf("user"),
    object: Type.Literal("user"),
    email: Type.String(),
    role: Type.Enum(["owner", "member"]),
    has_password: Type.Boolean(),
    is_you: Type.Boolean(),
    created: Timestamp,
    invitation_url: Type.Optional(secretShownOnce("Works once, for three days")),
  },
  { $id: "User", description: "A person who may sign in" },
);
export type User = Static<typeof User>;

export const UserInvite = closed(
  { email: Type.String({ format: "email", maxLength: LIMITS.emailLength }) },
  { $id: "UserInvite", description: "Who is to be invited" },
);
export type UserInvite = Static<typeof UserInvite>;

export const UserList = listOf(User, "UserList");
export const DeletedUser = deleted("user", "DeletedUser");
