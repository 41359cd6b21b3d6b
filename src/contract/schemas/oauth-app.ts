import { type Static, Type } from "typebox";
import {
  changes,
  count,
  Created,
  createSchemas,
  deleted,
  idOf,
  listOf,
  Livemode,
  named,
  nullable,
  objectOf,
  parameters,
  secretShownOnce,
  text,
  updateSchemas,
  valueSchemas,
} from "./fields.ts";

const { name, ...others } = valueSchemas("oauth_app");

/** `client_secret` is only in responses to creation and rotation; a public app has none. */
export const OAuthApp = named("OAuthApp", "An app that acts on behalf of users", {
  id: idOf("oauth_app"),
  object: objectOf("oauth_app"),
  name,
  client_id: text("Client ID for OAuth; the same as `id`", "app_4Vf8aTqz0bKm2sNw9XyRcd"),
  ...others,
  authorized_users: count("How many users have authorized it"),
  created: Created,
  livemode: Livemode,
  client_secret: Type.Optional(
    nullable(secretShownOnce("Shown at creation and rotation only; a public app has none", "cs_…")),
  ),
});
export type OAuthApp = Static<typeof OAuthApp>;

export const OAuthAppCreate = parameters("OAuthAppCreate", "Parameters of a new app", createSchemas("oauth_app"));
export type OAuthAppCreate = Static<typeof OAuthAppCreate>;

export const OAuthAppUpdate = changes("OAuthAppUpdate", updateSchemas("oauth_app"));
export type OAuthAppUpdate = Static<typeof OAuthAppUpdate>;

export const OAuthAppList = listOf(OAuthApp, "OAuthAppList");
export const DeletedOAuthApp = deleted("oauth_app", "DeletedOAuthApp");
