import type { FastifyInstance, FastifyRequest } from "fastify";
import { parseCredential } from "../../contract/credentials.ts";
import { DEVICE_CODE_GRANT, OAUTH_PATHS, type Scope } from "../../contract/scopes.ts";
import { CHALLENGE } from "../domain/api-error.ts";
import { addressName } from "../../network/addresses.ts";
import { INTERNAL_ERROR, toApiError } from "../http/problem.ts";
import { logFailure } from "../http/send.ts";
import type { With } from "../tools.ts";
import { authenticateClient } from "./clients.ts";
import { authorizeDevice, pollDevice } from "./device-grant.ts";
import { exchangeCode, type GrantTools, refresh } from "./tokens.ts";
import { OAuthError } from "./oauth-error.ts";
import { formatScopeNames, SCOPE_NAMES } from "./scope-names.ts";
import { formOf, ParameterError, type Parameters, takeForms } from "../http/pages/parameters.ts";
import {
  findRefreshToken,
  findTokenByDigest,
  type RefreshTokenOwner,
  revokeAccessToken,
  revokeGrant,
  type TokenOwner,
} from "../storage/oauth-grants.ts";
import type { ClientRow } from "../storage/oauth-apps.ts";

const GRANTS: ReadonlyMap<string, typeof exchangeCode> = new Map([
  ["authorization_code", exchangeCode],
  ["refresh_token", refresh],
  [DEVICE_CODE_GRANT, pollDevice],
]);

/** Anyone may begin a device sign-in, and each is a row for an hour, so they are rate limited. */
const DEVICE_SIGN_INS = { burst: 60, refillSeconds: 2 };

type TokenRouteTools = GrantTools & With<"createLimiter" | "clientAddress" | "log" | "baseUrl">;

/** The endpoints that clients call: forms in, JSON out. The query is never read. */
export function tokenRoutes(scope: FastifyInstance, tools: TokenRouteTools): void {
  const { createLimiter, clientAddress, log, baseUrl } = tools;
  takeForms(scope);
  const deviceSignIns = createLimiter("device sign-ins", DEVICE_SIGN_INS);

  scope.setErrorHandler((error, request, reply) => {
    const shown = asOAuthError(error);
    if (shown.status === 500) logFailure(log, error, request);
    return reply
      .code(shown.status)
      .headers(shown.headers)
      .send({ error: shown.code, error_description: shown.message });
  });

  const config = { crossOrigin: "anyone" } as const;
  scope.get(OAUTH_PATHS.metadata, { config }, async () => metadataOf(baseUrl()));
  scope.get(OAUTH_PATHS.openidMetadata, { config }, async () => metadataOf(baseUrl()));
  scope.get(OAUTH_PATHS.resourceMetadata, { config }, async () =>
    resourceMetadataOf(baseUrl(), { resource: baseUrl(), name: "Service API" }),
  );

  scope.post(OAUTH_PATHS.token, { config }, async (request) => {
    const form = readForm(request);
    const type = form.get("grant_type");
    if (type === undefined) throw new OAuthError("invalid_request", "grant_type is missing from the form");
    const client = await authenticateClient(tools, request, form);
    const grant = GRANTS.get(type);
    if (grant === undefined) {
      throw new OAuthError("unsupported_grant_type", `grant_type must be one of ${[...GRANTS.keys()].join(", ")}`);
    }
    return grant(tools, client, form);
  });

  scope.post(OAUTH_PATHS.revoke, { config }, async (request) => {
    const form = readForm(request);
    await revokeToken(tools, await authenticateClient(tools, request, form), form);
    return {};
  });

  scope.post(OAUTH_PATHS.introspect, async (request) => {
    const form = readForm(request);
    const client = await authenticateClient(tools, request, form);
    const token = form.get("token");
    if (token === undefined) throw new OAuthError("invalid_request", "token is missing");
    return introspect(tools, client, token);
  });

  // OpenID Connect Core 5.3 names both methods.
  scope.route({
    method: ["GET", "POST"],
    url: OAUTH_PATHS.userinfo,
    config,
    handler: async ({ headers }) => {
      const [, token = ""] = /^bearer +(\S+)$/i.exec(headers.authorization ?? "") ?? [];
      const owner = await findUsableToken(tools, token);
      if (owner === undefined) {
        // RFC 6750 3.1.
        const challenge = { "WWW-Authenticate": `${CHALLENGE}, error="invalid_token"` };
        throw new OAuthError("invalid_token", "Send a valid access token: Authorization: Bearer", 401, challenge);
      }
      const account = { id: owner.account_id, name: owner.account_name };
      return { sub: owner.user_id, email: owner.user_email, account };
    },
  });

  scope.post(OAUTH_PATHS.deviceAuthorization, { config }, async (request) => {
    const form = readForm(request);
    const client = await authenticateClient(tools, request, form);
    const { wait } = await deviceSignIns.take(addressName(clientAddress(request.raw)));
    if (wait > 0) throw new OAuthError("slow_down", "Too many sign-ins.", 429, { "Retry-After": String(wait) });
    return authorizeDevice(tools, baseUrl(), client, form);
  });
}

/** RFC 6749 3.2: no parameter may be repeated. */
function readForm(request: FastifyRequest): Parameters {
  const form = formOf(request.body);
  const [repeated] = form.repeated;
  if (repeated === undefined) return form;
  throw new OAuthError("invalid_request", `${repeated.slice(0, 60)} is repeated`);
}

function asOAuthError(error: unknown): OAuthError {
  if (error instanceof OAuthError) return error;
  if (error instanceof ParameterError) return new OAuthError("invalid_request", error.message);
  const apiError = toApiError(error) ?? INTERNAL_ERROR;
  switch (apiError.code) {
    case "internal_error":
      return new OAuthError("server_error", apiError.message, 500);
    case "unavailable":
      return new OAuthError("temporarily_unavailable", apiError.message, 503, apiError.headers);
    case "unsupported_media_type":
      return new OAuthError("invalid_request", "Send the parameters as a form: application/x-www-form-urlencoded.");
    default:
      return new OAuthError("invalid_request", apiError.message, apiError.status, apiError.headers);
  }
}

/**
 * RFC 7009: a refresh token revokes its whole grant, an access token only itself. An unknown token counts as revoked;
 * one of another client stays as it is. `token_type_hint` is not needed, because the token's prefix tells its type.
 */
async function revokeToken({ database, vault, clock }: GrantTools, client: ClientRow, form: Parameters) {
  const sent = form.get("token");
  if (sent === undefined) throw new OAuthError("invalid_request", "token is missing");
  const digest = vault.digest(sent);
  const now = clock.now();
  const kind = parseCredential(sent)?.kind;
  if (kind === "refresh_token") {
    const token = await findRefreshToken(database, digest);
    if (token?.app_id === client.id) await database.write((tx) => revokeGrant(tx, token.grant_id, now, "revoked"));
  } else if (kind === "access_token") {
    const token = await findTokenByDigest(database, digest);
    if (token?.app_id === client.id) await database.write((tx) => revokeAccessToken(tx, token.id, now));
  }
}

const CLIENT_AUTHENTICATION = ["none", "client_secret_basic", "client_secret_post"];

/** Returns the authorization server metadata (RFC 8414). */
function metadataOf(issuer: string) {
  return {
    issuer,
    authorization_endpoint: issuer + OAUTH_PATHS.authorize,
    token_endpoint: issuer + OAUTH_PATHS.token,
    revocation_endpoint: issuer + OAUTH_PATHS.revoke,
    introspection_endpoint: issuer + OAUTH_PATHS.introspect,
    userinfo_endpoint: issuer + OAUTH_PATHS.userinfo,
    device_authorization_endpoint: issuer + OAUTH_PATHS.deviceAuthorization,
    scopes_supported: SCOPE_NAMES,
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    grant_types_supported: ["authorization_code", "refresh_token", DEVICE_CODE_GRANT],
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: CLIENT_AUTHENTICATION,
    revocation_endpoint_auth_methods_supported: CLIENT_AUTHENTICATION,
    introspection_endpoint_auth_methods_supported: CLIENT_AUTHENTICATION,
    authorization_response_iss_parameter_supported: true,
  };
}

/** Returns the protected resource metadata (RFC 9728): who issues tokens for a resource, and how it takes them. */
export function resourceMetadataOf(baseUrl: string, { resource, name }: { resource: string; name: string }) {
  return {
    resource,
    authorization_servers: [baseUrl],
    scopes_supported: SCOPE_NAMES,
    bearer_methods_supported: ["header"],
    resource_name: name,
    resource_documentation: `${baseUrl}/docs`,
  };
}

/** Returns an access token with its user, unless it has expired or was revoked. */
async function findUsableToken({ database, vault, clock }: GrantTools, token: string): Promise<TokenOwner | undefined> {
  const row = await findTokenByDigest(database, vault.digest(token));
  const isUsable = row?.revoked_at === null && row.grant_revoked_at === null && row.expires_at > clock.now();
  return isUsable ? row : undefined;
}

const INACTIVE = { active: false };

/** Returns the state of a token (RFC 7662 2.2): nothing but `active` for one that is not, or that is another client's. */
async function introspect(tools: TokenRouteTools, client: ClientRow, token: string) {
  const { database, vault, clock, baseUrl } = tools;
  switch (parseCredential(token)?.kind) {
    case "access_token": {
      const row = await findUsableToken(tools, token);
      if (row?.app_id !== client.id) return INACTIVE;
      return { ...describe(row, baseUrl()), token_type: "Bearer", sub: row.user_id };
    }
    case "refresh_token": {
      const row = await findRefreshToken(database, vault.digest(token));
      if (row === undefined || row.app_id !== client.id || row.expires_at <= clock.now()) return INACTIVE;
      if (row.used_at !== null || row.replaced_at !== null || row.grant_revoked_at !== null) return INACTIVE;
      return describe(row, baseUrl());
    }
    default:
      return INACTIVE;
  }
}

function describe({ app_id, scopes, created, expires_at }: TokenOwner | RefreshTokenOwner, iss: string) {
  return {
    active: true,
    client_id: app_id,
    scope: formatScopeNames(JSON.parse(scopes) as Scope[]),
    iss,
    iat: Math.floor(created / 1000),
    exp: Math.floor(expires_at / 1000),
  };
}
