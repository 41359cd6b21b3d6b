import { beforeAll, describe, expect, it } from "vitest";
import { type Api, apiOf } from "../../support/api.ts";
import { obtainTokens, refreshWith } from "./support/authorization-server.ts";
import { embeddedPlatform } from "./support/embedded-platform.ts";
import { type OurServer, ourServer, THIRD_PARTY_REDIRECT } from "./support/our-server.ts";

const platform = embeddedPlatform();
let server: OurServer;
let api: Api;

beforeAll(async () => {
  server = await ourServer(platform);
  api = apiOf(platform.baseUrl, platform.sandboxKey);
});

const create = async (fields: Record<string, unknown> = {}) =>
  (await api("POST", "/v1/oauth_apps", { name: "App", redirect_uris: [THIRD_PARTY_REDIRECT], ...fields })).body;

describe("an OAuth app", () => {
  it("is created with a secret that is shown once", async () => {
    const response = await api("POST", "/v1/oauth_apps", { name: "App", redirect_uris: [THIRD_PARTY_REDIRECT] });
    expect(response).toMatchObject({ status: 201, body: { object: "oauth_app", public: false, livemode: false } });
    expect(response.body.client_secret).toMatch(/^cs_[0-9A-Za-z]{49}$/);
    const { client_secret: _, ...shown } = response.body;
    expect((await api("GET", `/v1/oauth_apps/${shown.id}`)).body).toEqual(shown);
  });

  it("has no secret to rotate if it is public", async () => {
    const app = await create({ public: true });
    expect(app.client_secret).toBeNull();
    const response = await api("POST", `/v1/oauth_apps/${app.id}/rotate_secret`);
    expect(response).toMatchObject({ status: 409, body: { code: "app_is_public" } });
  });

  it("is updated, listed and deleted", async () => {
    const app = await create();
    const changed = await api("PATCH", `/v1/oauth_apps/${app.id}`, {
      name: "Other",
      redirect_uris: ["https://b.example/"],
    });
    expect(changed.body).toMatchObject({ name: "Other", redirect_uris: ["https://b.example/"] });
    expect((await api("GET", "/v1/oauth_apps?limit=1")).body.data[0].id).toBe(app.id);
    expect((await api("DELETE", `/v1/oauth_apps/${app.id}`)).body).toMatchObject({ deleted: true });
    expect((await api("GET", `/v1/oauth_apps/${app.id}`)).status).toBe(404);
  });

  it("gets a new secret, and the old secret stops working immediately", async () => {
    const { refresh_token } = await obtainTokens(server, "confidential");
    const { body } = await api("POST", `/v1/oauth_apps/${server.confidentialApp.id}/rotate_secret`);
    const old = await refreshWith(server, "confidential", refresh_token);
    expect(old).toMatchObject({ status: 401, body: { error: "invalid_client" } });
    server.confidentialApp.secret = body.client_secret;
    expect((await refreshWith(server, "confidential", refresh_token)).status).toBe(200);
  });

  it("loses all its grants when it is deleted", async () => {
    const app = await create();
    const own = { ...server, confidentialApp: { ...server.confidentialApp, id: app.id, secret: app.client_secret } };
    const { access_token } = await obtainTokens(own, "confidential");
    expect(await server.works(access_token)).toBe(true);
    const usersOf = async () => (await api("GET", `/v1/oauth_apps/${app.id}`)).body.authorized_users;
    expect([app.authorized_users, await usersOf()]).toEqual([0, 1]);
    await api("DELETE", `/v1/oauth_apps/${app.id}`);
    expect(await server.works(access_token)).toBe(false);
  });
});

describe("redirect URIs", () => {
  it.each([
    "https://app.example.com/callback",
    "https://app.example.com/",
    "https://app.example.com:8443/a/b?x=1&y=2",
    "http://127.0.0.1/callback",
    "http://127.0.0.1:3000/callback",
    "http://[::1]/callback",
    "https://[2001:db8::1]/callback",
    "https://xn--bcher-kva.example/callback",
    "http://localhost:3000/callback",
  ])("may be %s", async (uri) => {
    expect((await api("POST", "/v1/oauth_apps", { name: "A", redirect_uris: [uri] })).status).toBe(201);
  });

  it.each([
    ["http://app.example.com/callback", "must be https"],
    ["http://127.0.0.1.evil.example/", "must be https"],
    ["http://127.0.0.2/", "must be https"],
    ["ftp://app.example.com/", "must be https"],
    ["javascript:alert(1)", "must be https"],
    ["com.example.app:/callback", "must be https"],
    ["https://user@app.example.com/", "must not contain a user"],
    ["https://:secret@app.example.com/", "must not contain a user"],
    ["https://app.example.com/#", "fragment"],
    ["https://app.example.com/#a", "fragment"],
    ["https://*.example.com/", "wildcard"],
    ["https://app.example.com/*", "wildcard"],
    ["https://app.example.com", "must be written as https://app.example.com/"],
    ["https://APP.example.com/", "must be written as"],
    ["https://app.example.com:443/", "must be written as"],
    ["https://app.example.com/a/../b", "must be written as"],
    [" https://app.example.com/", "must be written as"],
    ["https:\\\\app.example.com/", "must be written as"],
    ["https://a;frame-ancestors/cb", "must have a host of letters"],
    ["https://a.example,b.example/cb", "must have a host of letters"],
    ["https://'self'/cb", "must have a host of letters"],
    ["https://a_b.example/cb", "must have a host of letters"],
    ["/callback", "is not a URL"],
    ["", "is not a URL"],
    [`https://app.example.com/${"a".repeat(2048)}`, "must have at most"],
  ])("may not be %s", async (uri, why) => {
    const response = await api("POST", "/v1/oauth_apps", { name: "A", redirect_uris: [uri] });
    expect(response).toMatchObject({ status: 400, body: { errors: [{ pointer: "/redirect_uris/0" }] } });
    expect(response.body.errors[0].detail).toContain(why);
  });

  it.each([
    [[]],
    [Array.from({ length: 21 }, (_, index) => `https://a${index}.example/`)],
    [["https://a.example/", "https://a.example/"]],
  ])("must be 1 to 20 different URIs", async (redirect_uris) => {
    expect((await api("POST", "/v1/oauth_apps", { name: "A", redirect_uris })).status).toBe(400);
  });
});

it("the API hides the CLI's own app", async () => {
  expect(JSON.stringify((await api("GET", "/v1/oauth_apps?limit=100")).body)).not.toContain("app_service_cli");
  for (const [method, path] of [
    ["GET", ""],
    ["PATCH", ""],
    ["DELETE", ""],
    ["POST", "/rotate_secret"],
  ] as const) {
    const body = method === "PATCH" ? { name: "Mine" } : undefined;
    expect((await api(method, `/v1/oauth_apps/app_service_cli${path}`, body)).status).toBe(404);
  }
  expect((await obtainTokens(server, "public")).access_token).toMatch(/^at_/);
});

it("the API requires the scopes for apps", async () => {
  const { body } = await api("POST", "/v1/api_keys", { scopes: ["oauth_apps:read"] });
  const reader = apiOf(platform.baseUrl, body.key);
  expect((await reader("GET", "/v1/oauth_apps")).status).toBe(200);
  const rejected = await reader("POST", "/v1/oauth_apps", { name: "A", redirect_uris: [THIRD_PARTY_REDIRECT] });
  expect(rejected).toMatchObject({ status: 403, body: { required_scope: "oauth_apps:write" } });
});
