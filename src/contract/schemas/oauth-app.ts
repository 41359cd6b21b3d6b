import { type Static, Type } from "typebox";
import { LIMITS } from "../limits.ts";
import { closed, deleted, idOf, listOf, listQuery, Livemode, nullable, secretShownOnce, Timestamp } from "./fields.ts";

/** `client_secret` is only in responses to creation and rotation; a public app has none. */
export const OAuthApp = Type.Object(
  {
    id: idOf("oauth_app"),
    object: Type.Literal("oauth_app"),
    name: Type.String({ examples: ["Reports"] }),
    client_id: Type.String({ examples: ["app_06Fv3Tt0q1Yd8mWc5KxLrB"] }),
    redirect_uris: Type.Array(Type.String({ format: "redirect-uri" })),
    public: Type.Boolean({ description: "True for apps that cannot keep a secret", examples: [false] }),
    created: Timestamp,
    livemode: Livemode,
    client_secret: Type.Optional(
      nullable(secretShownOnce("Shown at creation and rotation only; a public app has none")),
    ),
  },
  { $id: "OAuthApp", description: "An app that acts on behalf of users" },
);
export type OAuthApp = Static<typeof OAuthApp>;

const Name = Type.String({ minLength: 1, maxLength: LIMITS.nameLength, examples: ["Reports"] });
const RedirectUris = Type.Array(Type.String({ format: "redirect-uri", maxLength: LIMITS.endpointUrlLength }), {
  minItems: 1,
  maxItems: 20,
  uniqueItems: true,
});

export const OAuthAppCreate = closed(
  { name: Name, redirect_uris: RedirectUris, public: Type.Optional(Type.Boolean({ default: false })) },
  { $id: "OAuthAppCreate", description: "Parameters of a new app" },
);
export type OAuthAppCreate = Static<typeof OAuthAppCreate>;

export const OAuthAppUpdate = closed(
  { name: Type.Optional(Name), redirect_uris: Type.Optional(RedirectUris) },
  { $id: "OAuthAppUpdate", description: "Fields to update; omitted fields do not change" },
);
export type OAuthAppUpdate = Static<typeof OAuthAppUpdate>;

export const OAuthAppListQuery = listQuery({});
export type OAuthAppListQuery = Static<typeof OAuthAppListQuery>;

export const OAuthAppList = listOf(OAuthApp, "OAuthAppList");
export const DeletedOAuthApp = deleted("oauth_app", "DeletedOAuthApp");
