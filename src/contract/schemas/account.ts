import { type Static, Type } from "typebox";
import { LIMITS } from "../limits.ts";
import { ApiKeyList } from "./api-key.ts";
import { closed, deleted, idOf, listOf, Livemode, nullable, secretShownOnce, Timestamp } from "./fields.ts";
import { ENVIRONMENTS } from "../environments.ts";
import { SCOPES } from "../scopes.ts";

/** A user of the account, who signs in to the dashboard. Only the response to an invitation has `invitation_url`. */
export const User = Type.Object(
  {
    id: idOf("user"),
    object: Type.Literal("user"),
    email: Type.String(),
    role: Type.Enum(["owner", "member"]),
    has_password: Type.Boolean(),
    is_you: Type.Boolean(),
    created: Timestamp,
    invitation_expires_at: nullable(
      Type.String({
        format: "timestamp",
        description: "Until when the user can join; null once they have, or it expired",
      }),
    ),
    invitation_url: Type.Optional(secretShownOnce("Works once, for three days")),
  },
  { $id: "User", description: "A user who can sign in" },
);
export type User = Static<typeof User>;

export const UserInvite = closed(
  { email: Type.String({ format: "email", maxLength: LIMITS.emailLength }) },
  { $id: "UserInvite", description: "The user to invite" },
);
export type UserInvite = Static<typeof UserInvite>;

export const UserList = listOf(User, "UserList");
/**
 * The response to removing a user. Their sessions and grants are revoked; API keys stay valid until they are revoked.
 */
export const DeletedUser = Type.Object(
  {
    ...deleted("user", "").properties,
    api_keys: Type.Object(ApiKeyList.properties, {
      description: "Usable keys that the user created, or that were created with such a key, newest first; at most 100",
    }),
  },
  { $id: "DeletedUser", description: "The removed user, with the keys they created" },
);
export type DeletedUser = Static<typeof DeletedUser>;

/** A browser in which the caller is signed in to the dashboard. */
export const Session = Type.Object(
  {
    id: idOf("session"),
    object: Type.Literal("session"),
    user_agent: nullable(Type.String()),
    by_link: Type.Boolean({ description: "True if it was started by a one-time link" }),
    is_current: Type.Boolean(),
    created: Timestamp,
    expires_at: Timestamp,
  },
  { $id: "Session", description: "A browser session" },
);
export type Session = Static<typeof Session>;

export const SessionList = listOf(Session, "SessionList");
export const DeletedSession = deleted("session", "DeletedSession");

/**
 * The access that a user granted to an app in one environment. Every token belongs to a grant, and is revoked with it.
 */
export const OAuthGrant = Type.Object(
  {
    id: idOf("oauth_grant"),
    object: Type.Literal("oauth_grant"),
    app_name: Type.String(),
    environment: Type.Enum([...ENVIRONMENTS]),
    scopes: Type.Array(Type.String()),
    created: Timestamp,
  },
  { $id: "OAuthGrant", description: "An app's access to your account" },
);
export type OAuthGrant = Static<typeof OAuthGrant>;

export const OAuthGrantList = listOf(OAuthGrant, "OAuthGrantList");

export const RevokedOAuthGrant = Type.Object(
  { id: idOf("oauth_grant"), object: Type.Literal("oauth_grant"), revoked: Type.Literal(true) },
  { $id: "RevokedOAuthGrant", description: "A revoked grant" },
);

/** The response of `GET /v1/me`: the owner of the credential and its permissions. */
export const Identity = Type.Object(
  {
    object: Type.Literal("identity"),
    account: Type.Object({ id: idOf("account"), name: Type.String({ examples: ["Example"] }) }),
    user: nullable(Type.Object({ id: idOf("user"), email: Type.String({ format: "email" }) })),
    environment: Type.Enum([...ENVIRONMENTS]),
    livemode: Livemode,
    credential: Type.Object({
      kind: Type.Enum(["secret_key", "restricted_key", "access_token", "session"]),
      id: Type.String({ examples: ["key_06Fv3Tt0q1Yd8mWc5KxLrB"] }),
      prefix: Type.String({ examples: ["sk_sandbox_a"] }),
      last4: Type.String({ examples: ["9fQ2"] }),
    }),
    scopes: Type.Array(Type.Enum([...SCOPES])),
  },
  { $id: "Identity", description: "The identity behind a credential" },
);
export type Identity = Static<typeof Identity>;

const VersionDate = (description: string) =>
  Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}$", description, examples: ["2026-11-01"] });

/** The response of `GET /v1/versions`. */
export const VersionList = Type.Object(
  {
    object: Type.Literal("list"),
    data: Type.Array(VersionDate("A date for `Service-Version`"), { description: "Oldest first" }),
    latest: VersionDate("The newest version"),
    pinned: VersionDate("Version of requests without a `Service-Version` header"),
  },
  { $id: "VersionList", description: "Supported versions" },
);
