import type { ApiKey } from "../../../contract/schemas/api-key.ts";
import { relativeTime } from "../../terminal/time.ts";
import type { Column, ViewContext } from "../../terminal/view.ts";
import { CREATED, CREATED_AT, ENVIRONMENT, ID } from "../resource/columns.ts";
import { nounsFor, locationOf, type Resource } from "../resource/resource.ts";
import type { Secret } from "../resource/show-secret.ts";

const NAME: Column<ApiKey> = { label: "Name", text: ({ name }) => name ?? "", shrinks: true };
const KEY: Column<ApiKey> = { label: "Key", text: ({ prefix, last4 }) => `${prefix}…${last4}` };

const STATE: Column<ApiKey> = {
  label: "State",
  text: (key, { now }) => stateOf(key, now),
  style: (text, styles) => (text === "active" ? styles.good(text) : styles.dim(text)),
};

const SCOPES: Column<ApiKey> = { label: "Scopes", text: ({ scopes }) => scopes.join(" ") };
const SCOPE_COUNT: Column<ApiKey> = {
  label: "Scopes",
  text: ({ scopes }, { terminal }) => (terminal && scopes.length > 2 ? `${scopes.length} scopes` : scopes.join(" ")),
  shrinks: true,
};
const ADDRESSES: Column<ApiKey> = { label: "Addresses", text: ({ ip_allowlist }) => ip_allowlist.join(" ") || "any" };
const LAST_USED: Column<ApiKey> = { label: "Last used", text: ({ last_used }, view) => time(last_used, view, "never") };
const EXPIRES: Column<ApiKey> = { label: "Expires", text: ({ expires_at }, view) => time(expires_at, view, "never") };

const CREATED_BY: Column<ApiKey> = { label: "Created by", text: ({ created_by }) => created_by ?? "" };

const REVOKED: Column<ApiKey> = {
  label: "Revoked",
  text: ({ revoked_at, revoked_reason }, view) =>
    revoked_at === null ? "" : `${time(revoked_at, view, "")}${revoked_reason === null ? "" : ` (${revoked_reason})`}`,
  style: (text, styles) => styles.warn(text),
};

/** Shown once, where a key is made. */
export const NEW_KEY: Secret<ApiKey> = { label: "secret key", member: "key" };

export const KEYS: Resource<ApiKey> = {
  ...locationOf("api_key"),
  view: {
    ...nounsFor("api_key"),
    fields: [
      "id",
      "object",
      "name",
      "prefix",
      "last4",
      "scopes",
      "ip_allowlist",
      "expires_at",
      "last_used",
      "revoked_at",
      "revoked_reason",
      "livemode",
      "created",
      "created_by",
      "key",
    ],
    columns: [
      ID,
      NAME,
      { ...KEY, optional: true },
      STATE,
      { ...SCOPE_COUNT, optional: true },
      { ...LAST_USED, optional: true },
      CREATED,
    ],
    details: [
      ID,
      NAME,
      KEY,
      STATE,
      SCOPES,
      ADDRESSES,
      EXPIRES,
      LAST_USED,
      REVOKED,
      ENVIRONMENT,
      CREATED_AT,
      CREATED_BY,
    ],
  },
};

function stateOf({ revoked_at, expires_at }: ApiKey, now: number): "active" | "revoked" | "expired" {
  if (revoked_at !== null) return "revoked";
  return expires_at !== null && Date.parse(expires_at) <= now ? "expired" : "active";
}

function time(timestamp: string | null, { now, terminal }: ViewContext, none: string): string {
  if (timestamp === null) return terminal ? none : "";
  return terminal ? relativeTime(timestamp, now) : timestamp;
}
