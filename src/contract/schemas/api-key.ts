import { type Static, Type } from "typebox";
import { createSchemas, updateSchemas, valueSchemas } from "./field-schemas.ts";
import {
  closed,
  Created,
  idOf,
  listOf,
  Livemode,
  nullable,
  NULL_IN_EXAMPLES,
  objectOf,
  secretShownOnce,
  timestamp,
} from "./fields.ts";

const { name, ...others } = valueSchemas("api_key");

/** Only the responses to creation and rotation have `key`. */
export const ApiKey = Type.Object(
  {
    id: idOf("api_key"),
    object: objectOf("api_key"),
    name,
    prefix: Type.String({ description: "First characters of the key", examples: ["rk_sandbox_a"] }),
    last4: Type.String({ description: "Last four characters of the key", examples: ["9fQ2"] }),
    ...others,
    last_used: nullable(timestamp("The day or time of the last request; null if there was none"), NULL_IN_EXAMPLES),
    revoked_at: nullable(timestamp("When it was revoked; null while it is usable"), NULL_IN_EXAMPLES),
    revoked_reason: nullable(
      Type.String({
        description: "`revoked`, `rolled` by a rotation, or `leaked: ` and the public URL where it was found",
      }),
      NULL_IN_EXAMPLES,
    ),
    livemode: Livemode,
    created: Created,
    created_by: nullable(
      Type.String({
        description: "ID of the user or API key that created it; null for the first keys of the platform",
        examples: ["usr_4Vf8aTqz0bKm2sNw9XyRcd"],
      }),
    ),
    key: Type.Optional(secretShownOnce("The key itself; shown at creation and rotation only", "rk_sandbox_…")),
  },
  { $id: "ApiKey", description: "A credential of one environment" },
);
export type ApiKey = Static<typeof ApiKey>;

export const ApiKeyCreate = closed(createSchemas("api_key"), {
  $id: "ApiKeyCreate",
  description: "Parameters of a new key; without scopes it has those of its creator",
});
export type ApiKeyCreate = Static<typeof ApiKeyCreate>;

export const ApiKeyUpdate = closed(updateSchemas("api_key"), {
  $id: "ApiKeyUpdate",
  description: "Fields to update; omitted fields do not change",
});
export type ApiKeyUpdate = Static<typeof ApiKeyUpdate>;

export const ApiKeyList = listOf(ApiKey, "ApiKeyList");
