import { type Static, Type } from "typebox";
import { createSchemas, updateSchemas, valueSchemas } from "./field-schemas.ts";
import { closed, Created, deleted, idOf, listOf, Livemode, nullable, objectOf, secretShownOnce } from "./fields.ts";

const { name, ...others } = valueSchemas("oauth_app");

/** `client_secret` is only in responses to creation and rotation; a public app has none. */
export const OAuthApp = Type.Object(
  {
    id: idOf("oauth_app"),
    object: objectOf("oauth_app"),
    name,
    client_id: Type.String({
      description: "Client ID for OAuth; the same as `id`",
      examples: ["app_4Vf8aTqz0bKm2sNw9XyRcd"],
    }),
    ...others,
    created: Created,
    livemode: Livemode,
    client_secret: Type.Optional(
      nullable(secretShownOnce("Shown at creation and rotation only; a public app has none", "cs_…")),
    ),
  },
  { $id: "OAuthApp", description: "An app that acts on behalf of users" },
);
export type OAuthApp = Static<typeof OAuthApp>;

export const OAuthAppCreate = closed(createSchemas("oauth_app"), {
  $id: "OAuthAppCreate",
  description: "Parameters of a new app",
});
export type OAuthAppCreate = Static<typeof OAuthAppCreate>;

export const OAuthAppUpdate = closed(updateSchemas("oauth_app"), {
  $id: "OAuthAppUpdate",
  description: "Fields to update; omitted fields do not change",
});
export type OAuthAppUpdate = Static<typeof OAuthAppUpdate>;

export const OAuthAppList = listOf(OAuthApp, "OAuthAppList");
export const DeletedOAuthApp = deleted("oauth_app", "DeletedOAuthApp");
