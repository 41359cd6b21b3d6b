import { type Static, Type } from "typebox";
import {
  changes,
  Created,
  createSchemas,
  idOf,
  listOf,
  Livemode,
  named,
  nullable,
  nullInExamples,
  objectOf,
  parameters,
  secretShownOnce,
  text,
  timestamp,
  updateSchemas,
  valueSchemas,
} from "./fields.ts";

const { name, ...others } = valueSchemas("api_key");

/** Only the responses to creation and rotation have `key`. */
export const ApiKey = named("ApiKey", "A credential of one environment", {
  id: idOf("api_key"),
  object: objectOf("api_key"),
  name,
  prefix: text("First characters of the key", "rk_sandbox_a"),
  last4: text("Last four characters of the key", "9fQ2"),
  ...others,
  last_used: nullInExamples(timestamp("The day or time of the last request; null if there was none")),
  revoked_at: nullInExamples(timestamp("When it was revoked; null while it is usable")),
  revoked_reason: nullInExamples(
    text("`revoked`, `rolled` if the key was rotated, or `leaked: ` and the public URL where it was found"),
  ),
  livemode: Livemode,
  created: Created,
  created_by: nullable(
    text(
      "ID of the user or API key that created it; null for the first keys of the platform",
      "key_3Ue7zSpy9aJl1rMv8WxQbc",
    ),
  ),
  key: Type.Optional(secretShownOnce("The key itself; shown at creation and rotation only", "rk_sandbox_…")),
});
export type ApiKey = Static<typeof ApiKey>;

export const ApiKeyCreate = parameters(
  "ApiKeyCreate",
  "Parameters of a new key; without scopes it has those of its creator",
  createSchemas("api_key"),
);
export type ApiKeyCreate = Static<typeof ApiKeyCreate>;

export const ApiKeyUpdate = changes("ApiKeyUpdate", updateSchemas("api_key"));
export type ApiKeyUpdate = Static<typeof ApiKeyUpdate>;

export const ApiKeyList = listOf(ApiKey, "ApiKeyList");
