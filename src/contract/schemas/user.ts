import { type Static, Type } from "typebox";
import { LIMITS } from "../limits.ts";
import { ApiKeyList } from "./api-key.ts";
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
/** What removing a user returns. Their sessions and grants are revoked; keys stay valid until someone revokes them. */
export const DeletedUser = Type.Object(
  {
    ...deleted("user", "").properties,
    api_keys: Type.Object(ApiKeyList.properties, {
      description: "Usable keys that the user created, or that were created with such a key, newest first; at most 100",
    }),
  },
  { $id: "DeletedUser", description: "What removing a user returns, with the keys that they created" },
);
export type DeletedUser = Static<typeof DeletedUser>;
