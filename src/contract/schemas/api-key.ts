import { type Static, Type } from "typebox";
import { LIMITS } from "../limits.ts";
import { SCOPES } from "../scopes.ts";
import { closed, idOf, listOf, listQuery, Livemode, nullable, secretShownOnce, Timestamp } from "./fields.ts";

/** Only the responses to creation and rolling have `key`. */
export const ApiKey = Type.Object(
  {
    id: idOf("api_key"),
    object: Type.Literal("api_key"),
    name: nullable(Type.String({ examples: ["reporting"] })),
    prefix: Type.String({ description: "First characters of the key", examples: ["rk_sandbox_a"] }),
    last4: Type.String({ description: "Last four characters of the key", examples: ["9fQ2"] }),
    scopes: Type.Array(Type.Enum([...SCOPES])),
    ip_allowlist: Type.Array(Type.String({ format: "cidr" })),
    expires_at: nullable(Timestamp),
    last_used: nullable(Timestamp),
    revoked_at: nullable(Timestamp),
    revoked_reason: nullable(
      Type.String({ description: "`revoked`, `rolled`, or `leaked: ` and the public URL where it was found" }),
    ),
    livemode: Livemode,
    created: Timestamp,
    created_by: nullable(
      Type.String({
        description: "ID of the user or API key that created it; null for the first keys of the platform",
        examples: ["usr_06Fv3Tt0q1Yd8mWc5KxLrB"],
      }),
    ),
    key: Type.Optional(secretShownOnce("The key itself; shown at creation and rolling only")),
  },
  { $id: "ApiKey", description: "A credential of one environment" },
);
export type ApiKey = Static<typeof ApiKey>;

export const ApiKeyCreate = closed(
  {
    name: Type.Optional(nullable(Type.String({ minLength: 1, maxLength: LIMITS.nameLength, examples: ["reporting"] }))),
    scopes: Type.Optional(
      Type.Array(Type.Enum([...SCOPES]), { minItems: 1, maxItems: SCOPES.length, uniqueItems: true }),
    ),
    ip_allowlist: Type.Optional(Type.Array(Type.String({ format: "cidr" }), { maxItems: 100 })),
    // In the future: clients generate requests from examples.
    expires_at: Type.Optional(nullable({ ...Timestamp, examples: ["2100-01-01T00:00:00Z"] })),
  },
  { $id: "ApiKeyCreate", description: "Parameters of a new key; without scopes it has those of its creator" },
);
export type ApiKeyCreate = Static<typeof ApiKeyCreate>;

export const ApiKeyUpdate = closed(
  { ...ApiKeyCreate.properties },
  { $id: "ApiKeyUpdate", description: "Fields to update; omitted fields do not change" },
);
export type ApiKeyUpdate = Static<typeof ApiKeyUpdate>;

export const ApiKeyListQuery = listQuery({});
export type ApiKeyListQuery = Static<typeof ApiKeyListQuery>;

export const ApiKeyList = listOf(ApiKey, "ApiKeyList");
