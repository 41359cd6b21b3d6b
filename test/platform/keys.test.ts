import { beforeAll, describe, expect, it } from "vitest";
import { SCOPES } from "../../src/contract/scopes.ts";
import { formatTimestamp } from "../../src/contract/timestamps.ts";
import { obtainTokens, refreshWith } from "./oauth/support/authorization-server.ts";
import { embeddedPlatform } from "./oauth/support/embedded-platform.ts";
import { type OurServer, ourServer } from "./oauth/support/our-server.ts";
import { type Api, apiOf } from "../support/api.ts";

const HOUR = 3_600_000;

const platform = embeddedPlatform();
let server: OurServer;
let api: Api;
/** The ID of the tests' own key. */
let firstKey: string;

beforeAll(async () => {
  server = await ourServer(platform);
  api = apiOf(platform.baseUrl, platform.sandboxKey);
  firstKey = (await api("GET", "/v1/me")).body.credential.id;
});

const withKey = (key: string) => apiOf(platform.baseUrl, key);
const create = (fields: object = {}, maker = api) => maker("POST", "/v1/api_keys", fields);
const hence = (milliseconds: number) => formatTimestamp(platform.now() + milliseconds);

describe("an API key", () => {
  it("is shown once", async () => {
    const { status, body } = await create({ name: "Reader", scopes: ["customers:read"] });
    expect(status).toBe(201);
    expect(body.key).toMatch(/^rk_sandbox_[0-9A-Za-z]{49}$/);
    expect(body).toMatchObject({
      object: "api_key",
      name: "Reader",
      prefix: body.key.slice(0, 12),
      last4: body.key.slice(-4),
      scopes: ["customers:read"],
      ip_allowlist: [],
      expires_at: null,
      last_used: null,
      revoked_at: null,
      revoked_reason: null,
      livemode: false,
      created_by: firstKey,
    });
    const { key: _, ...shown } = body;
    expect((await api("GET", `/v1/api_keys/${body.id}`)).body).toEqual(shown);
    const list = await api("GET", "/v1/api_keys");
    expect(list.body.data[0]).toEqual(shown);
    expect(JSON.stringify(list.body)).not.toContain(body.key);
  });

  it("without restrictions has all scopes, in its own environment", async () => {
    const { body } = await withKey(platform.liveKey)("POST", "/v1/api_keys", {});
    expect(body.key).toMatch(/^sk_live_/);
    expect(body.scopes).toEqual(SCOPES);
    const me = await withKey(body.key)("GET", "/v1/me");
    expect(me.body).toMatchObject({ environment: "live", user: null, credential: { id: body.id, kind: "secret_key" } });
  });

  it("allows what its scopes grant, and write does not include read", async () => {
    const { body } = await create({ scopes: ["customers:write"] });
    const writer = withKey(body.key);
    expect((await writer("POST", "/v1/customers", { email: "writer@example.com" })).status).toBe(201);
    const rejected = await writer("GET", "/v1/customers");
    expect(rejected).toMatchObject({ status: 403, body: { required_scope: "customers:read" } });
    expect(rejected.headers.get("www-authenticate")).toContain('error="insufficient_scope", scope="customers:read"');
  });

  it.each([
    [{ scopes: [] }, "/scopes"],
    [{ scopes: ["customers:delete"] }, "/scopes/0"],
    [{ scopes: ["customers:read", "customers:read"] }, "/scopes"],
    [{ ip_allowlist: ["10.0.0.0/33"] }, "/ip_allowlist/0"],
    [{ ip_allowlist: ["10.0.0.1"] }, "/ip_allowlist/0"],
    [{ ip_allowlist: ["example.com/8"] }, "/ip_allowlist/0"],
    [{ expires_at: "tomorrow" }, "/expires_at"],
    [{ expires_at: "2020-01-01T00:00:00Z" }, "/expires_at"],
    [{ name: "" }, "/name"],
    [{ permissions: [] }, "/permissions"],
  ])("%j is rejected", async (fields, pointer) => {
    const { status, body } = await create(fields);
    expect(status).toBe(400);
    expect(body.errors[0].pointer).toBe(pointer);
  });
});

describe("a 401 response", () => {
  it("rejects a revoked key immediately and permanently, with the time", async () => {
    const { body } = await create();
    expect((await withKey(body.key)("GET", "/v1/me")).status).toBe(200);
    const revoked = await api("POST", `/v1/api_keys/${body.id}/revoke`);
    expect(revoked.body).toMatchObject({ revoked_reason: "revoked", revoked_at: expect.any(String) });
    const rejected = await withKey(body.key)("GET", "/v1/me");
    expect(rejected).toMatchObject({ status: 401, body: { code: "revoked_credential" } });
    expect(rejected.body.detail).toContain(revoked.body.revoked_at);
    expect(rejected.headers.get("www-authenticate")).toContain('error="invalid_token"');
    const again = await api("POST", `/v1/api_keys/${body.id}/revoke`);
    expect(again).toMatchObject({ status: 200, body: { revoked_at: revoked.body.revoked_at } });
  });

  it("rejects an expired key, with the time", async () => {
    const end = hence(HOUR);
    const { body } = await create({ expires_at: end });
    expect(body.expires_at).toBe(end);
    expect((await withKey(body.key)("GET", "/v1/me")).status).toBe(200);
    platform.advance(HOUR);
    const rejected = await withKey(body.key)("GET", "/v1/me");
    expect(rejected).toMatchObject({ status: 401, body: { code: "expired_credential" } });
    expect(rejected.body.detail).toContain(end);
  });

  it("precedes 403, and 403 precedes errors of the request", async () => {
    const { body } = await create({ scopes: ["orders:read"], ip_allowlist: ["203.0.113.0/24"] });
    await api("POST", `/v1/api_keys/${body.id}/revoke`);
    const send = (key: string) => withKey(key)("POST", "/v1/customers?x=1", "{", { "Service-Version": "x" });
    expect((await send(body.key)).status).toBe(401);
    const bound = (await create({ ip_allowlist: ["203.0.113.0/24"] })).body;
    expect(await send(bound.key)).toMatchObject({ status: 403, body: { code: "ip_not_allowed" } });
    const limited = (await create({ scopes: ["orders:read"] })).body;
    expect(await send(limited.key)).toMatchObject({ status: 403, body: { code: "insufficient_scope" } });
    expect((await send(platform.sandboxKey)).status).toBe(400);
  });
});

describe("a key created by another key", () => {
  it("has no scope that its creator lacks", async () => {
    const maker = (await create({ scopes: ["api_keys:write", "customers:read"] })).body;
    const rejected = await create({ scopes: ["customers:read", "customers:write"] }, withKey(maker.key));
    expect(rejected).toMatchObject({ status: 403, body: { code: "insufficient_scope" } });
    expect(rejected.body.detail).toContain("customers:write");
    const created = await create({ scopes: ["customers:read"] }, withKey(maker.key));
    expect(created.body.scopes).toEqual(["customers:read"]);
  });

  it("inherits omitted fields from its creator", async () => {
    const limits = { ip_allowlist: ["127.0.0.0/8"], expires_at: hence(100 * HOUR) };
    const maker = (await create({ scopes: ["api_keys:write", "customers:read"], ...limits })).body;
    const created = await create({}, withKey(maker.key));
    expect(created.body).toMatchObject({ scopes: ["customers:read", "api_keys:write"], ...limits });
    expect(created.body.key).toMatch(/^rk_/);
  });

  it.each([
    ["a wider range", { ip_allowlist: ["0.0.0.0/0"] }, "/ip_allowlist"],
    ["another range", { ip_allowlist: ["127.0.0.0/16", "10.0.0.0/8"] }, "/ip_allowlist"],
    ["every address", { ip_allowlist: [] }, "/ip_allowlist"],
    ["a later end", { expires_at: "2099-01-01T00:00:00Z" }, "/expires_at"],
    ["no end", { expires_at: null }, "/expires_at"],
  ])("is not created with %s", async (_what, fields, pointer) => {
    const maker = (await create({ ip_allowlist: ["127.0.0.0/8"], expires_at: hence(100 * HOUR) })).body;
    const rejected = await create(fields, withKey(maker.key));
    expect(rejected).toMatchObject({ status: 403, body: { code: "exceeds_creator", errors: [{ pointer }] } });
    const narrower = await create({ ip_allowlist: ["127.0.0.0/16"], expires_at: hence(99 * HOUR) }, withKey(maker.key));
    expect(narrower.status).toBe(201);
  });

  it("is not created by rolling a more powerful key", async () => {
    const strong = (await create()).body;
    const weak = (await create({ scopes: ["api_keys:write"] })).body;
    const rejected = await withKey(weak.key)("POST", `/v1/api_keys/${strong.id}/roll`);
    expect(rejected).toMatchObject({ status: 403, body: { code: "insufficient_scope" } });
    expect((await withKey(strong.key)("GET", "/v1/me")).status).toBe(200);
  });

  it("is not created in another environment", async () => {
    const { body } = await create();
    expect((await withKey(platform.liveKey)("GET", `/v1/api_keys/${body.id}`)).status).toBe(404);
    expect((await withKey(platform.liveKey)("POST", `/v1/api_keys/${body.id}/roll`)).status).toBe(404);
    expect((await withKey(platform.liveKey)("POST", `/v1/api_keys/${body.id}/revoke`)).status).toBe(404);
  });
});

describe("rolling", () => {
  it("creates a key with the same permissions, and revokes the old one", async () => {
    const limits = { scopes: ["orders:read"], ip_allowlist: ["127.0.0.0/8"], expires_at: hence(50 * HOUR) };
    const old = (await create({ name: "Roll", ...limits })).body;
    const rolled = await api("POST", `/v1/api_keys/${old.id}/roll`);
    expect(rolled).toMatchObject({ status: 201, body: { name: "Roll", ...limits } });
    expect(rolled.body.id).not.toBe(old.id);
    expect((await withKey(rolled.body.key)("GET", "/v1/orders")).status).toBe(200);
    expect((await withKey(old.key)("GET", "/v1/orders")).status).toBe(401);
    expect((await api("GET", `/v1/api_keys/${old.id}`)).body.revoked_reason).toBe("rolled");
  });

  it("succeeds only once, even for 10 concurrent requests", async () => {
    const old = (await create()).body;
    const responses = await Promise.all(Array.from({ length: 10 }, () => api("POST", `/v1/api_keys/${old.id}/roll`)));
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(responses.filter(({ body }) => body.code === "key_not_usable")).toHaveLength(9);
  });

  it("returns the same response for the same Idempotency-Key", async () => {
    const old = (await create()).body;
    const headers = { "Idempotency-Key": "roll-1" };
    const first = await api("POST", `/v1/api_keys/${old.id}/roll`, undefined, headers);
    const second = await api("POST", `/v1/api_keys/${old.id}/roll`, undefined, headers);
    expect(second.body).toEqual(first.body);
  });

  it("is rejected for an expired key", async () => {
    const old = (await create({ expires_at: hence(3 * HOUR) })).body;
    platform.advance(3 * HOUR);
    expect((await api("POST", `/v1/api_keys/${old.id}/roll`)).body.code).toBe("key_not_usable");
  });
});

describe("an Idempotency-Key", () => {
  const REDIRECTS = ["https://app.example.com/callback"];

  /** Every operation whose response can contain a secret, from the OpenAPI document. */
  async function operationsWithSecrets(): Promise<string[]> {
    const { body: document } = await api("GET", "/openapi.json");
    return Object.entries<Record<string, Record<string, object>>>(document.paths).flatMap(([path, { post }]) => {
      const success = Object.entries(post?.["responses"] ?? {}).filter(([status]) => status.startsWith("2"));
      const [, name] = /"\$ref":"#\/components\/schemas\/(\w+)"/.exec(JSON.stringify(success)) ?? [];
      const hasSecret = name !== undefined && JSON.stringify(document.components.schemas[name]).includes("x-secret");
      return hasSecret ? [path] : [];
    });
  }

  it("returns a response with a secret only to the credential that first received it", async () => {
    const key = (await create()).body;
    const app = (await api("POST", "/v1/oauth_apps", { name: "A", redirect_uris: REDIRECTS })).body;
    const endpoint = { url: "https://example.com/hook", events: ["*"] };
    const { id } = (await api("POST", "/v1/webhook_endpoints", endpoint)).body;
    const requests: Record<string, [path: string, body: object | undefined, field: string | undefined]> = {
      "/v1/webhook_endpoints": ["/v1/webhook_endpoints", endpoint, "secret"],
      "/v1/webhook_endpoints/{id}/rotate_secret": [`/v1/webhook_endpoints/${id}/rotate_secret`, {}, "secret"],
      "/v1/api_keys": ["/v1/api_keys", { name: "Strong" }, "key"],
      "/v1/api_keys/{id}/roll": [`/v1/api_keys/${key.id}/roll`, undefined, "key"],
      "/v1/api_keys/{id}/revoke": [`/v1/api_keys/${key.id}/revoke`, undefined, undefined],
      "/v1/oauth_apps": ["/v1/oauth_apps", { name: "B", redirect_uris: REDIRECTS }, "client_secret"],
      "/v1/oauth_apps/{id}/rotate_secret": [`/v1/oauth_apps/${app.id}/rotate_secret`, undefined, "client_secret"],
    };
    // Only users can invite users.
    expect((await operationsWithSecrets()).toSorted()).toEqual([...Object.keys(requests), "/v1/users"].toSorted());
    const others = [
      withKey((await create()).body.key),
      withKey((await create({ scopes: ["api_keys:write", "oauth_apps:write", "webhook_endpoints:write"] })).body.key),
    ];
    const headers = { "Idempotency-Key": "once" };
    for (const [path, body, field] of Object.values(requests)) {
      const first = await api("POST", path, body, headers);
      expect(first.status, path).toBeLessThan(300);
      if (field !== undefined) expect(first.body[field], path).toMatch(/^(sk_|cs_|whsec_)/);
      expect((await api("POST", path, body, headers)).body, path).toEqual(first.body);
      for (const other of others) {
        const rejected = await other("POST", path, body, headers);
        expect(rejected, path).toMatchObject({ status: 422, body: { code: "idempotency_key_reused" } });
      }
    }
  });

  it("returns any other response to every credential of the environment", async () => {
    const headers = { "Idempotency-Key": "customer-1" };
    const first = await api("POST", "/v1/customers", { email: "a@example.com" }, headers);
    expect(first.status).toBe(201);
    const other = withKey((await create()).body.key);
    expect((await other("POST", "/v1/customers", { email: "a@example.com" }, headers)).body).toEqual(first.body);
  });

  it("returns a secret after a token refresh, but not to a token with fewer scopes", async () => {
    const both = { ...server, scopes: ["write_webhook_endpoints", "read_customers"] as const };
    const tokens = await obtainTokens(both, "public");
    const endpoint = { url: "https://example.com/refreshed", events: ["*"] };
    const send = (token: string) =>
      withKey(token)("POST", "/v1/webhook_endpoints", endpoint, { "Idempotency-Key": "refreshed" });
    const first = await send(tokens.access_token);
    expect(first.status).toBe(201);
    const second = (await refreshWith(both, "public", tokens.refresh_token)).body;
    expect((await send(second.access_token)).body).toEqual(first.body);
    const scope = { scope: "write_webhook_endpoints" };
    const narrow = (await refreshWith(both, "public", second.refresh_token, scope)).body;
    expect((await send(narrow.access_token)).status).toBe(422);
  });
});

it("a user's access token can create a key within its scopes, which outlives the token", async () => {
  const { access_token } = await obtainTokens({ ...server, scopes: ["write_api_keys", "read_customers"] }, "public");
  const { body } = await create({ scopes: ["customers:read"] }, withKey(access_token));
  expect(body).toMatchObject({ expires_at: null, scopes: ["customers:read"] });
  const rejected = await create({ scopes: ["orders:read"] }, withKey(access_token));
  expect(rejected).toMatchObject({ status: 403, body: { code: "insufficient_scope" } });
  platform.advance(HOUR);
  expect((await withKey(access_token)("GET", "/v1/me")).body.code).toBe("expired_credential");
  expect((await withKey(body.key)("GET", "/v1/me")).status).toBe(200);
});

it("created_by is the user or key, and null for the first keys", async () => {
  const createdBy = async (id: string) => (await api("GET", `/v1/api_keys/${id}`)).body.created_by;
  expect(await createdBy(firstKey)).toBeNull();
  const { body: created } = await create();
  expect(created.created_by).toBe(firstKey);
  const { body: rolled } = await withKey(created.key)("POST", `/v1/api_keys/${created.id}/roll`);
  expect(rolled.created_by).toBe(created.id);
  const { access_token } = await obtainTokens({ ...server, scopes: ["write_api_keys", "read_customers"] }, "public");
  const { user } = (await withKey(access_token)("GET", "/v1/me")).body;
  const byToken = (await create({ scopes: ["customers:read"] }, withKey(access_token))).body;
  expect(byToken.created_by).toBe(user.id);
  expect(await createdBy(byToken.id)).toBe(user.id);
});

describe("last_used", () => {
  const lastUsed = async (id: string) => (await api("GET", `/v1/api_keys/${id}`)).body.last_used as string | null;

  it("is updated within two seconds at first, then accurate to the minute", async () => {
    const { body } = await create();
    await withKey(body.key)("GET", "/v1/me");
    await expect.poll(() => lastUsed(body.id)).not.toBeNull();
    const first = await lastUsed(body.id);
    platform.advance(30_000);
    await withKey(body.key)("GET", "/v1/me");
    platform.advance(31_000);
    await withKey(body.key)("GET", "/v1/me");
    await expect.poll(() => lastUsed(body.id)).not.toBe(first);
  });
});
