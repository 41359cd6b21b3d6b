import { formatCredential } from "../../contract/credentials.ts";
import type { OAuthApp, OAuthAppCreate, OAuthAppUpdate } from "../../contract/schemas/oauth-app.ts";
import { formatTimestamp } from "../../contract/timestamps.ts";
import type { Transaction } from "../storage/database.ts";
import { storedChanges, storedFields, valuesOf } from "../storage/field-values.ts";
import {
  deleteOAuthApp,
  insertOAuthApp,
  type OAuthAppRow,
  oauthAppRows,
  setClientSecret,
  updateOAuthApp,
} from "../storage/oauth-apps.ts";
import { ApiError, readsOf } from "./api-error.ts";
import type { SecretTools } from "./api-keys.ts";
import type { RequestContext, Tenant } from "./request-context.ts";

/** Registers an app. A public app has no secret: PKCE alone protects it. */
export async function createOAuthApp(
  tx: Transaction,
  tools: SecretTools,
  { tenant, now, newId }: RequestContext,
  input: OAuthAppCreate,
): Promise<OAuthApp> {
  const isPublic = input.public ?? false;
  const secret = isPublic ? null : newSecret(tools);
  const row: OAuthAppRow = {
    id: newId("oauth_app"),
    environment: tenant.environment,
    ...storedFields("oauth_app", input),
    secret: secret === null ? null : tools.vault.digest(secret),
    created: now,
  };
  await insertOAuthApp(tx, row);
  return { ...toOAuthApp(row, tenant), client_secret: secret };
}

export async function changeOAuthApp(
  tx: Transaction,
  { tenant }: RequestContext,
  id: string,
  input: OAuthAppUpdate,
): Promise<OAuthApp> {
  const before = await oauthApps.row(tx, tenant, id);
  const after: OAuthAppRow = { ...before, ...storedChanges("oauth_app", input) };
  await updateOAuthApp(tx, after);
  return toOAuthApp(after, tenant);
}

/** The old secret stops working at once. Throws ApiError `app_is_public`. */
export async function rotateClientSecret(
  tx: Transaction,
  tools: SecretTools,
  { tenant }: RequestContext,
  id: string,
): Promise<OAuthApp> {
  const row = await oauthApps.row(tx, tenant, id);
  if (row.public === 1) throw new ApiError("app_is_public", `The app ${id} is public: it has no secret to rotate.`);
  const secret = newSecret(tools);
  await setClientSecret(tx, id, tools.vault.digest(secret));
  return { ...toOAuthApp(row, tenant), client_secret: secret };
}

/** Deletes an app and revokes all its grants. */
export async function removeOAuthApp(tx: Transaction, { tenant }: RequestContext, id: string) {
  await oauthApps.row(tx, tenant, id);
  await deleteOAuthApp(tx, tenant.environment, id);
  return { id, object: "oauth_app" as const, deleted: true as const };
}

export const oauthApps = readsOf("oauth_app", oauthAppRows, toOAuthApp);

function newSecret({ random }: SecretTools): string {
  return formatCredential("cs_", random.bytes(32));
}

function toOAuthApp(row: OAuthAppRow, tenant: Tenant): OAuthApp {
  const { name, ...others } = valuesOf("oauth_app", row);
  return {
    id: row.id,
    object: "oauth_app",
    name,
    client_id: row.id,
    ...others,
    created: formatTimestamp(row.created),
    livemode: tenant.livemode,
  };
}
