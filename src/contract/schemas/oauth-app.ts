import { type Static, Type } from "typebox";
import { LIMITS } from "../limits.ts";
import { closed, deleted, listOf, listQuery, nullable, Timestamp } from "./fields.ts";

/** Decisions 3, OAuth app. `client_secret` stands in the reply to creation and rotation only; a public app has none. */
export const OAuthApp = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal("oauth_app"),
    name: Type.String(),
    client_id: Type.String(),
    redirect_uris: Type.Array(Type.String()),
    public: Type.Boolean(),
    created: Timestamp,
    livemode: Type.Boolean(),
    client_secret: Type.Optional(nullable(Type.String())),
  },
  { $id: "OAuthApp" },
);
export type OAuthApp = Static<typeof OAuthApp>;

const Name = Type.String({ minLength: 1, maxLength: LIMITS.nameLength });
const RedirectUris = Type.Array(Type.String({ format: "redirect-uri", maxLength: LIMITS.endpointUrlLength }), {
  minItems: 1,
  maxItems: 20,
  uniqueItems: true,
});

export const OAuthAppCreate = closed(
  { name: Name, redirect_uris: RedirectUris, public: Type.Optional(Type.Boolean({ default: false })) },
  { $id: "OAuthAppCreate" },
);
export type OAuthAppCreate = Static<typeof OAuthAppCreate>;

export const OAuthAppUpdate = closed(
  { name: Type.Optional(Name), redirect_uris: Type.Optional(RedirectUris) },
  { $id: "OAuthAppUpdate" },
);
export type OAuthAppUpdate = Static<typeof OAuthAppUpdate>;

export const OAuthAppListQuery = listQuery({});
export type OAuthAppListQuery = Static<typeof OAuthAppListQuery>;

export const OAuthAppList = listOf(OAuthApp, "OAuthAppList");
export const DeletedOAuthApp = deleted("oauth_app", "DeletedOAuthApp");
