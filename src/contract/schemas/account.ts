import { type Static, Type } from "typebox";
import { LIMITS } from "../limits.ts";
import { ApiKeyList } from "./api-key.ts";
import {
  Created,
  deleted,
  flag,
  formatted,
  group,
  idOf,
  listOf,
  Livemode,
  named,
  nullable,
  nullInExamples,
  objectOf,
  oneOf,
  parameters,
  secretShownOnce,
  several,
  text,
  timestamp,
} from "./fields.ts";
import { ENVIRONMENTS } from "../environments.ts";
import { SCOPES } from "../scopes.ts";

/** A user of the account, who signs in to the dashboard. Only the response to an invitation has `invitation_url`. */
export const User = named("User", "A user who can sign in", {
  id: idOf("user"),
  object: objectOf("user"),
  email: text("Email address", "ada@example.com"),
  role: oneOf(["owner", "member"], "An `owner` can also invite and remove users"),
  has_password: flag("False until the user has accepted the invitation", true),
  is_you: flag("True for the user who sends the request", true),
  created: Created,
  invitation_expires_at: nullInExamples(timestamp("Until when the user can join; null once they have, or it expired")),
  invitation_url: Type.Optional(
    secretShownOnce("Works once, for three days", "http://127.0.0.1:4010/invitation?token=…"),
  ),
});
export type User = Static<typeof User>;

export const UserInvite = parameters("UserInvite", "The user to invite", {
  email: formatted("email", "Email address that the user signs in with", { maxLength: LIMITS.emailLength }),
});
export type UserInvite = Static<typeof UserInvite>;

export const UserList = listOf(User, "UserList");
/**
 * The response to removing a user. Their sessions and grants are revoked; API keys stay valid until they are revoked.
 */
export const DeletedUser = named("DeletedUser", "The removed user, with the keys they created", {
  ...deleted("user", "").properties,
  api_keys: group(
    "Usable keys that the user created, or that were created with such a key, newest first; at most 100",
    ApiKeyList.properties,
  ),
});
export type DeletedUser = Static<typeof DeletedUser>;

/** A browser in which the caller is signed in to the dashboard. */
export const Session = named("Session", "A browser session", {
  id: idOf("session"),
  object: objectOf("session"),
  user_agent: nullable(text("The browser, as it names itself", "Mozilla/5.0 (X11; Linux x86_64)")),
  by_link: flag("True if it was started by a one-time link"),
  is_current: flag("True for the session that sends the request", true),
  client_address: nullable(text("IP address from which it was started", "203.0.113.7")),
  last_used: nullable(timestamp("When it last sent a request, to the minute; null before the first")),
  created: Created,
  expires_at: formatted("timestamp", "When it expires", { examples: ["2026-11-08T12:00:00Z"] }),
});
export type Session = Static<typeof Session>;

export const SessionList = listOf(Session, "SessionList");
export const DeletedSession = deleted("session", "DeletedSession");

/**
 * The access that a user granted to an app in one environment. Every token belongs to a grant, and is revoked with it.
 */
export const OAuthGrant = named("OAuthGrant", "An app's access to your account", {
  id: idOf("oauth_grant"),
  object: objectOf("oauth_grant"),
  app_name: text("Name of the app", "Reports"),
  environment: oneOf(ENVIRONMENTS, "The environment that the app can access"),
  scopes: several(Type.String({ examples: ["customers:read"] }), "What the app may do"),
  last_token_at: timestamp("When the app last got an access token, which it does at least every hour that it is used"),
  created: Created,
});
export type OAuthGrant = Static<typeof OAuthGrant>;

export const OAuthGrantList = listOf(OAuthGrant, "OAuthGrantList");

export const RevokedOAuthGrant = named("RevokedOAuthGrant", "A revoked grant", {
  id: idOf("oauth_grant"),
  object: objectOf("oauth_grant"),
  revoked: Type.Literal(true, { description: "Confirms the revocation" }),
});

/** The response of `GET /v1/me`: the owner of the credential and its permissions. */
export const Identity = named("Identity", "The identity behind a credential", {
  object: objectOf("identity"),
  account: group("The account that everything belongs to", {
    id: idOf("account"),
    name: text("Name of the account", "Example"),
  }),
  user: nullInExamples(
    group("The user of a session or access token; null for an API key", {
      id: idOf("user"),
      email: formatted("email", "Email address"),
    }),
  ),
  environment: oneOf(ENVIRONMENTS, "The environment that the credential accesses", "sandbox"),
  livemode: Livemode,
  credential: group("The credential of the request", {
    kind: oneOf(
      ["secret_key", "restricted_key", "access_token", "session"],
      "Kind of the credential",
      "restricted_key",
    ),
    id: text("ID of the credential", "key_4Vf8aTqz0bKm2sNw9XyRcd"),
    prefix: text("Its first characters", "rk_sandbox_a"),
    last4: text("Its last four characters", "9fQ2"),
  }),
  scopes: several(Type.Enum([...SCOPES]), "What the credential may do"),
});
export type Identity = Static<typeof Identity>;

const VersionDate = (description: string) =>
  Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}$", description, examples: ["2026-11-01"] });

/** The response of `GET /v1/versions`. */
export const VersionList = named("VersionList", "Supported versions", {
  object: objectOf("list"),
  data: several(VersionDate("A date for `Service-Version`"), "Oldest first"),
  latest: VersionDate("The newest version"),
  pinned: VersionDate("Version of requests without a `Service-Version` header"),
});
