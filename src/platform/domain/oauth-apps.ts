import { formatCredential } from "../../contract/credentials.ts";
import type { OAuthApp, OAuthAppCreate, OAuthAppUpdate } from "../../contract/schemas/oauth-app.ts";
import { formatTimestamp } from "../../contract/timestamps.ts";
import { storedChanges, storedFields, valuesOf } from "../storage/field-values.ts";
import {
  insertOAuthApp,
  type ListedApp,
  type OAuthAppRow,
  oauthAppRows,
  setClientSecret,
} from "../storage/oauth-apps.ts";
import { ApiError, readsOf, shorten } from "./api-error.ts";
import type { SecretTools } from "./api-keys.ts";
import type { RequestContext, Tenant } from "./request-context.ts";
import { LIMITS } from "../../contract/limits.ts";
import { parseUrl } from "../../network/parse-url.ts";

/** Registers an app. A public app has no secret: PKCE alone protects it. */
export async function createOAuthApp(tools: SecretTools, context: RequestContext, input: OAuthAppCreate) {
  const { tx, tenant, now, newId } = context;
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
  return { ...toOAuthApp({ ...row, authorized_users: 0 }, tenant), client_secret: secret };
}

export async function changeOAuthApp({ tx, tenant }: RequestContext, id: string, input: OAuthAppUpdate) {
  const before = await oauthApps.row(tx, tenant, id);
  const after: ListedApp = { ...before, ...storedChanges("oauth_app", input) };
  await oauthAppRows.update(tx, after);
  return toOAuthApp(after, tenant);
}

/** The old secret stops working at once. Throws ApiError `app_is_public`. */
export async function rotateClientSecret(tools: SecretTools, { tx, tenant }: RequestContext, id: string) {
  const row = await oauthApps.row(tx, tenant, id);
  if (row.public === 1) throw new ApiError("app_is_public", `The app ${id} is public: it has no secret to rotate.`);
  const secret = newSecret(tools);
  await setClientSecret(tx, id, tools.vault.digest(secret));
  return { ...toOAuthApp(row, tenant), client_secret: secret };
}

/** Deletes an app with all its grants and tokens. */
export async function removeOAuthApp({ tx, tenant }: RequestContext, id: string) {
  await oauthApps.row(tx, tenant, id);
  await oauthAppRows.remove(tx, tenant.environment, id);
  return { id, object: "oauth_app" as const, deleted: true as const };
}

export const oauthApps = readsOf("oauth_app", oauthAppRows, toOAuthApp);

function newSecret({ random }: SecretTools): string {
  return formatCredential("cs_", random.bytes(32));
}

function toOAuthApp(row: ListedApp, tenant: Tenant): OAuthApp {
  const { name, ...others } = valuesOf("oauth_app", row);
  return {
    id: row.id,
    object: "oauth_app",
    name,
    client_id: row.id,
    ...others,
    authorized_users: row.authorized_users,
    created: formatTimestamp(row.created),
    livemode: tenant.livemode,
  };
}

const LOOPBACK_HOSTS = new Set(["127.0.0.1", "[::1]", "localhost"]);
/**
 * Names, IPv4 and IPv6 addresses. URLs allow more characters in a host, such as `;` and `,`, which end a directive of
 * the CSP.
 */
const HOST = /^(?:[a-z0-9.-]+|\[[0-9a-f:]+\])$/;
/**
 * A redirect to an address of this machine, whose port may vary (RFC 8252 7.3). `localhost` is a name, not an address.
 */
const LOOPBACK_ADDRESS = /^http:\/\/(127\.0\.0\.1|\[::1\])(?::\d{1,5})?(\/.*)$/;

/**
 * Returns what is wrong with a redirect URI, or undefined. It must be https, or http to this machine, have no user,
 * password, fragment or wildcard, and be written as a browser would write it, since it is compared character by
 * character.
 */
export function problemOfRedirectUri(text: string): string | undefined {
  // Checked first, because parsing a long non-ASCII host takes quadratic time.
  if (text.length > LIMITS.endpointUrlLength) return `must have at most ${LIMITS.endpointUrlLength} characters`;
  const url = parseUrl(text);
  if (url === undefined) return "is not a URL";
  const isLoopback = url.protocol === "http:" && LOOPBACK_HOSTS.has(url.hostname);
  if (url.protocol !== "https:" && !isLoopback) return "must be https, or http to 127.0.0.1, [::1] or localhost";
  if (url.username !== "" || url.password !== "") return "must not contain a user name or password";
  if (text.includes("#")) return "must not have a fragment";
  if (text.includes("*")) return "must not contain a wildcard: list each URI";
  if (!HOST.test(url.hostname)) return "must have a host of letters, digits, hyphens and dots";
  if (url.href !== text) return `must be written as ${shorten(url.href)}`;
  return undefined;
}

/** Returns true if this address is the registered one. The port may differ on loopback addresses. */
export function matchesRedirectUri(registered: string, requested: string): boolean {
  if (registered === requested) return true;
  const known = LOOPBACK_ADDRESS.exec(registered);
  const given = LOOPBACK_ADDRESS.exec(requested);
  // Port 80 may be written or omitted.
  if (known === null || given === null || problemOfRedirectUri(requested.replace(":80/", "/")) !== undefined)
    return false;
  return known[1] === given[1] && known[2] === given[2];
}
