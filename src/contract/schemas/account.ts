import { type Static, Type } from "typebox";
import { LIMITS } from "../limits.ts";
import { ApiKeyList } from "./api-key.ts";
import {
  closed,
  Created,
  deleted,
  idOf,
  listOf,
  Livemode,
  nullable,
  NULL_IN_EXAMPLES,
  objectOf,
  secretShownOnce,
  timestamp,
} from "./fields.ts";
import { ENVIRONMENTS } from "../environments.ts";
import { SCOPES } from "../scopes.ts";

/** A user of the account, who signs in to the dashboard. Only the response to an invitation has `invitation_url`. */
export const User = Type.Object(
  {
    id: idOf("user"),
    object: objectOf("user"),
    email: Type.String({ description: "Email address", examples: ["ada@example.com"] }),
    role: Type.Enum(["owner", "member"], { description: "An `owner` can also invite and remove users" }),
    has_password: Type.Boolean({ description: "False until the user has accepted the invitation", examples: [true] }),
    is_you: Type.Boolean({ description: "True for the user who sends the request", examples: [true] }),
    created: Created,
    invitation_expires_at: nullable(
      Type.String({
        format: "timestamp",
        description: "Until when the user can join; null once they have, or it expired",
      }),
      NULL_IN_EXAMPLES,
    ),
    invitation_url: Type.Optional(
      secretShownOnce("Works once, for three days", "http://127.0.0.1:4010/invitation?token=…"),
    ),
  },
  { $id: "User", description: "A user who can sign in" },
);
export type User = Static<typeof User>;

export const UserInvite = closed(
  {
    email: Type.String({
      format: "email",
      maxLength: LIMITS.emailLength,
      description: "Email address that the user signs in with",
    }),
  },
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
    object: objectOf("session"),
    user_agent: nullable(
      Type.String({ description: "The browser, as it names itself", examples: ["Mozilla/5.0 (X11; Linux x86_64)"] }),
    ),
    by_link: Type.Boolean({ description: "True if it was started by a one-time link" }),
    is_current: Type.Boolean({ description: "True for the session that sends the request", examples: [true] }),
    created: Created,
    expires_at: Type.String({
      format: "timestamp",
      description: "When it expires",
      examples: ["2026-11-08T12:00:00Z"],
    }),
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
    object: objectOf("oauth_grant"),
    app_name: Type.String({ description: "Name of the app", examples: ["Reports"] }),
    environment: Type.Enum([...ENVIRONMENTS], { description: "The environment that the app can access" }),
    scopes: Type.Array(Type.String({ examples: ["customers:read"] }), { description: "What the app may do" }),
    last_token_at: timestamp(
      "When the app last got an access token, which it does at least every hour that it is used",
    ),
    created: Created,
  },
  { $id: "OAuthGrant", description: "An app's access to your account" },
);
export type OAuthGrant = Static<typeof OAuthGrant>;

export const OAuthGrantList = listOf(OAuthGrant, "OAuthGrantList");

export const RevokedOAuthGrant = Type.Object(
  {
    id: idOf("oauth_grant"),
    object: objectOf("oauth_grant"),
    revoked: Type.Literal(true, { description: "Confirms the revocation" }),
  },
  { $id: "RevokedOAuthGrant", description: "A revoked grant" },
);

/** The response of `GET /v1/me`: the owner of the credential and its permissions. */
export const Identity = Type.Object(
  {
    object: objectOf("identity"),
    account: Type.Object(
      { id: idOf("account"), name: Type.String({ description: "Name of the account", examples: ["Example"] }) },
      { description: "The account that everything belongs to" },
    ),
    user: nullable(
      Type.Object(
        { id: idOf("user"), email: Type.String({ format: "email", description: "Email address" }) },
        { description: "The user of a session or access token; null for an API key" },
      ),
      NULL_IN_EXAMPLES,
    ),
    environment: Type.Enum([...ENVIRONMENTS], {
      description: "The environment that the credential accesses",
      examples: ["sandbox"],
    }),
    livemode: Livemode,
    credential: Type.Object(
      {
        kind: Type.Enum(["secret_key", "restricted_key", "access_token", "session"], {
          description: "Kind of the credential",
        }),
        id: Type.String({ description: "ID of the credential", examples: ["key_4Vf8aTqz0bKm2sNw9XyRcd"] }),
        prefix: Type.String({ description: "Its first characters", examples: ["sk_sandbox_a"] }),
        last4: Type.String({ description: "Its last four characters", examples: ["9fQ2"] }),
      },
      { description: "The credential of the request" },
    ),
    scopes: Type.Array(Type.Enum([...SCOPES]), { description: "What the credential may do" }),
  },
  { $id: "Identity", description: "The identity behind a credential" },
);
export type Identity = Static<typeof Identity>;

const VersionDate = (description: string) =>
  Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}$", description, examples: ["2026-11-01"] });

/** The response of `GET /v1/versions`. */
export const VersionList = Type.Object(
  {
    object: objectOf("list"),
    data: Type.Array(VersionDate("A date for `Service-Version`"), { description: "Oldest first" }),
    latest: VersionDate("The newest version"),
    pinned: VersionDate("Version of requests without a `Service-Version` header"),
  },
  { $id: "VersionList", description: "Supported versions" },
);
