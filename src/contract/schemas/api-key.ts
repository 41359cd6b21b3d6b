import { type Static, Type } from "typebox";
import { LIMITS } from "../limits.ts";
import { SCOPES } from "../scopes.ts";
import { closed, listOf, listQuery, nullable, Timestamp } from "./fields.ts";

/** Platform specification 2, API key; decisions 3. `key` stands in the reply to creation and rolling only. */
export const ApiKey = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal("api_key"),
    name: nullable(Type.String()),
    prefix: Type.String(),
    last4: Type.String(),
    scopes: Type.Array(Type.String()),
    ip_allowlist: Type.Array(Type.String()),
    expires_at: nullable(Timestamp),
    last_used: nullable(Timestamp),
    revoked_at: nullable(Timestamp),
    revoked_reason: nullable(
      Type.String({ description: "`revoked`, `rolled`, or `leaked: ` and the public place where it was found" }),
    ),
    livemode: Type.Boolean(),
    created: Timestamp,
    key: Type.Optional(Type.String()),
  },
  { $id: "ApiKey" },
);
export type ApiKey = Static<typeof ApiKey>;

export const ApiKeyCreate = closed(
  {
    name: Type.Optional(nullable(Type.String({ minLength: 1, maxLength: LIMITS.nameLength }))),
    scopes: Type.Optional(Type.Array(Type.Enum([...SCOPES]), { minItems: 1, uniqueItems: true })),
    ip_allowlist: Type.Optional(Type.Array(Type.String({ format: "cidr" }), { maxItems: 100 })),
    expires_at: Type.Optional(nullable(Timestamp)),
  },
  { $id: "ApiKeyCreate" },
);
export type ApiKeyCreate = Static<typeof ApiKeyCreate>;

export const ApiKeyListQuery = listQuery({});
export type ApiKeyListQuery = Static<typeof ApiKeyListQuery>;

export const ApiKeyList = listOf(ApiKey, "ApiKeyList");
