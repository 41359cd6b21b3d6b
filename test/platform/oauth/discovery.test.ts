import { beforeAll, describe, expect, it } from "vitest";
import { apiOf } from "../../support/api.ts";
import { embeddedPlatform } from "./support/embedded-platform.ts";
import { type OurServer, ourServer } from "./support/our-server.ts";
import { createHash } from "node:crypto";

const platform = embeddedPlatform();
let server: OurServer;

beforeAll(async () => {
  server = await ourServer(platform);
});

const ORIGIN = { Origin: "https://app.example" };
const VERIFIER = "v".repeat(43);

const getJson = async (path: string) => {
  const response = await fetch(platform.baseUrl + path);
  expect(response.status).toBe(200);
  return (await response.json()) as Record<string, unknown>;
};

const postForm = (path: string, form: Record<string, string>, headers: Record<string, string> = {}) =>
  fetch(platform.baseUrl + path, { method: "POST", body: new URLSearchParams(form), headers });

/** Signs the owner in to the confidential app, and returns its tokens. */
async function newTokens() {
  const { id, secret, redirectUri } = server.confidentialApp;
  const url = new URL(server.endpoints.authorize);
  url.search = new URLSearchParams({
    response_type: "code",
    client_id: id,
    redirect_uri: redirectUri,
    scope: "read_customers",
    state: "s",
    code_challenge: createHash("sha256").update(VERIFIER).digest("base64url"),
    code_challenge_method: "S256",
  }).toString();
  const { redirect } = await server.authorize(url);
  const form = { grant_type: "authorization_code", code: redirect!.searchParams.get("code")!, code_verifier: VERIFIER };
  const proof = { client_id: id, client_secret: secret, redirect_uri: redirectUri };
  const response = await postForm("/oauth/token", { ...form, ...proof });
  return (await response.json()) as { access_token: string; refresh_token: string };
}

describe("discovery", () => {
  it("gives OpenID clients the same metadata, without a claim to OpenID features", async () => {
    const metadata = await getJson("/.well-known/oauth-authorization-server");
    expect(await getJson("/.well-known/openid-configuration")).toEqual(metadata);
    expect(metadata).toMatchObject({
      introspection_endpoint: `${platform.baseUrl}/oauth/introspect`,
      userinfo_endpoint: `${platform.baseUrl}/oauth/userinfo`,
    });
    for (const name of ["jwks_uri", "id_token_signing_alg_values_supported"]) {
      expect(metadata).not.toHaveProperty(name);
    }
    expect(metadata["scopes_supported"]).not.toContain("openid");
  });

  it("leads from a 401 to the authorization server", async () => {
    const rejected = await fetch(`${platform.baseUrl}/v1/me`);
    const [, url] = /resource_metadata="([^"]+)"/.exec(rejected.headers.get("www-authenticate")!)!;
    const resource = (await (await fetch(url!)).json()) as { resource: string; authorization_servers: string[] };
    expect(resource).toMatchObject({ resource: platform.baseUrl, bearer_methods_supported: ["header"] });
    const { issuer } = await getJson("/.well-known/oauth-authorization-server");
    expect(resource.authorization_servers).toEqual([issuer]);
  });
});

describe("introspection", () => {
  const introspect = async (token: string, app = server.confidentialApp as { id: string; secret?: string }) => {
    const proof = { client_id: app.id, ...(app.secret === undefined ? {} : { client_secret: app.secret }) };
    const response = await postForm("/oauth/introspect", { token, ...proof });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };

  it("reports an app's own tokens as active until they are revoked", async () => {
    const seconds = Math.floor(platform.now() / 1000);
    const { access_token, refresh_token } = await newTokens();
    const { body } = await introspect(access_token);
    expect(body).toEqual({
      active: true,
      client_id: server.confidentialApp.id,
      scope: "read_customers",
      token_type: "Bearer",
      iss: platform.baseUrl,
      sub: expect.stringMatching(/^usr_/),
      iat: expect.any(Number),
      exp: expect.any(Number),
    });
    expect(body["iat"]).toBe(seconds);
    expect(body["exp"]).toBe((body["iat"] as number) + 3600);
    expect((await introspect(refresh_token)).body).toMatchObject({ active: true, scope: "read_customers" });
    const { id, secret } = server.confidentialApp;
    await postForm("/oauth/revoke", { token: refresh_token, client_id: id, client_secret: secret });
    for (const token of [access_token, refresh_token])
      expect((await introspect(token)).body).toEqual({ active: false });
  });

  it("reports nothing but inactive for an expired token, another app's token, a key or an unknown token", async () => {
    const { access_token, refresh_token } = await newTokens();
    expect((await introspect(access_token, { id: server.publicApp.id })).body).toEqual({ active: false });
    expect((await introspect(refresh_token, { id: server.publicApp.id })).body).toEqual({ active: false });
    for (const text of [platform.sandboxKey, "at_x", "nonsense", `${access_token}x`]) {
      expect(await introspect(text)).toEqual({ status: 200, body: { active: false } });
    }
    platform.advance(3_600_000);
    expect((await introspect(access_token)).body).toEqual({ active: false });
    expect((await introspect(refresh_token)).body).toMatchObject({ active: true });
  });

  it("requires an authenticated client, and a token", async () => {
    const { id, secret } = server.confidentialApp;
    expect(await introspect("x", { id, secret: `${secret}x` })).toMatchObject({
      status: 401,
      body: { error: "invalid_client" },
    });
    const bare = await postForm("/oauth/introspect", { client_id: id, client_secret: secret });
    expect([bare.status, await bare.json()]).toMatchObject([400, { error: "invalid_request" }]);
  });
});

describe("userinfo", () => {
  const userinfo = async (token: string, method = "GET") => {
    const headers = { Authorization: `Bearer ${token}` };
    const response = await fetch(`${platform.baseUrl}/oauth/userinfo`, { method, headers });
    return { status: response.status, headers: response.headers, body: await response.json() };
  };

  it("returns the user and the account of an access token", async () => {
    const { access_token } = await newTokens();
    const me = (await apiOf(platform.baseUrl, access_token)("GET", "/v1/me")).body;
    const { id: sub, email } = me.user;
    for (const method of ["GET", "POST"]) {
      expect((await userinfo(access_token, method)).body).toEqual({ sub, email, account: me.account });
    }
  });

  it("rejects keys, and tokens that were revoked", async () => {
    const { access_token, refresh_token } = await newTokens();
    const { id, secret } = server.confidentialApp;
    await postForm("/oauth/revoke", { token: refresh_token, client_id: id, client_secret: secret });
    for (const token of [platform.sandboxKey, refresh_token, access_token, "x"]) {
      const { status, headers, body } = await userinfo(token);
      expect([status, body]).toMatchObject([401, { error: "invalid_token" }]);
      expect(headers.get("www-authenticate")).toContain('error="invalid_token"');
    }
  });
});

describe("pages of other origins", () => {
  const allowed = (response: { headers: Headers }) => response.headers.get("access-control-allow-origin");
  const preflight = (path: string, method: string, headers: string) =>
    fetch(platform.baseUrl + path, {
      method: "OPTIONS",
      headers: {
        ...ORIGIN,
        "Access-Control-Request-Method": method,
        ...(headers === "" ? {} : { "Access-Control-Request-Headers": headers }),
      },
    });

  it("may read metadata, and use the endpoints of tokens", async () => {
    for (const path of [
      "/.well-known/oauth-authorization-server",
      "/.well-known/openid-configuration",
      "/.well-known/oauth-protected-resource",
      "/openapi.json",
    ]) {
      expect(allowed(await fetch(platform.baseUrl + path, { headers: ORIGIN })), path).toBe("*");
    }
    for (const path of ["/oauth/token", "/oauth/revoke", "/oauth/device_authorization"]) {
      const preflighted = await preflight(path, "POST", "authorization,content-type");
      expect([
        preflighted.status,
        allowed(preflighted),
        preflighted.headers.get("access-control-allow-methods"),
      ]).toEqual([204, "*", "OPTIONS, POST"]);
      expect(allowed(await postForm(path, {}, ORIGIN)), path).toBe("*");
      expect(preflighted.headers.has("access-control-allow-credentials")).toBe(false);
    }
  });

  it("may call the API with an access token, errors included, and read its headers", async () => {
    const { access_token } = await newTokens();
    const preflighted = await preflight(
      "/v1/customers",
      "POST",
      "authorization,content-type,idempotency-key,traceparent",
    );
    expect([allowed(preflighted), preflighted.headers.get("access-control-allow-methods")]).toEqual([
      "*",
      "GET, HEAD, OPTIONS, POST",
    ]);
    for (const [path, status] of [
      ["/v1/customers", 200],
      ["/v1/orders", 403],
    ] as const) {
      const response = await apiOf(platform.baseUrl, access_token)("GET", path, undefined, ORIGIN);
      expect([response.status, allowed(response)]).toEqual([status, "*"]);
      expect(response.headers.get("access-control-expose-headers")).toContain("Request-Id");
    }
    const unknown = await apiOf(platform.baseUrl, `at_${"x".repeat(43)}`)("GET", "/v1/customers", undefined, ORIGIN);
    expect([unknown.status, allowed(unknown)]).toEqual([401, "*"]);
  });

  it("may read nothing with an API key, a session or no credential, and never the sign-in pages", async () => {
    const key = apiOf(platform.baseUrl, platform.sandboxKey);
    expect(allowed(await key("GET", "/v1/customers", undefined, ORIGIN))).toBeNull();
    expect(allowed(await apiOf(platform.baseUrl, undefined)("GET", "/v1/me", undefined, ORIGIN))).toBeNull();
    for (const headers of ["", "content-type", "service-environment", "authorization,service-environment"]) {
      expect(allowed(await preflight("/v1/customers", "POST", headers)), headers).toBeNull();
    }
    expect(allowed(await preflight("/v1/sessions", "GET", "authorization"))).toBeNull();
    for (const path of ["/sign-in", "/oauth/authorize", "/account", "/dashboard", "/metrics"]) {
      expect(allowed(await fetch(platform.baseUrl + path, { headers: ORIGIN })), path).toBeNull();
      expect(allowed(await preflight(path, "POST", "content-type")), path).toBeNull();
    }
  });
});
