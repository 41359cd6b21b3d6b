import { type Static, Type } from "typebox";
import { ENVIRONMENTS } from "../environments.ts";
import { idOf, listOf, Timestamp } from "./fields.ts";

/** What the caller allowed an app, in one environment: every token descends from a grant and ends with it. */
export const OAuthGrant = Type.Object(
  {
    id: idOf("oauth_grant"),
    object: Type.Literal("oauth_grant"),
    app_name: Type.String(),
    environment: Type.Enum([...ENVIRONMENTS]),
    scopes: Type.Array(Type.String()),
    created: Timestamp,
  },
  { $id: "OAuthGrant", description: "What you allow an app" },
);
export type OAuthGrant = Static<typeof OAuthGrant>;

export const OAuthGrantList = listOf(OAuthGrant, "OAuthGrantList");

export const RevokedOAuthGrant = Type.Object(
  { id: idOf("oauth_grant"), object: Type.Literal("oauth_grant"), revoked: Type.Literal(true) },
  { $id: "RevokedOAuthGrant", description: "The grant has ended" },
);
