import { expect, it } from "vitest";
import { hostedPlatform } from "./delivery/support/hosted-platform.ts";
import { apiOf } from "../support/api.ts";

const platform = hostedPlatform();

const IN_A_DAY = new Date(Date.now() + 86_400_000).toISOString().replace(/\.\d+/, "");
const IN_TWO_DAYS = new Date(Date.now() + 2 * 86_400_000).toISOString().replace(/\.\d+/, "");

const create = async (fields: object): Promise<{ id: string; key: string; scopes: string[] }> =>
  (await platform.api("POST", "/v1/api_keys", fields)).body;
const apiWith = ({ key }: { key: string }) => apiOf(platform.baseUrl, key);

it("an update changes the given fields of a key, effective immediately", async () => {
  const key = await create({ name: "reports", scopes: ["customers:read"] });
  expect((await apiWith(key)("GET", "/v1/orders")).status).toBe(403);
  const change = { name: "orders", scopes: ["orders:read"], ip_allowlist: ["127.0.0.0/8"], expires_at: IN_A_DAY };
  const { status, body } = await platform.api("PATCH", `/v1/api_keys/${key.id}`, change);
  expect({ status, body }).toMatchObject({ status: 200, body: { id: key.id, ...change } });
  expect(body).not.toHaveProperty("key");
  expect((await apiWith(key)("GET", "/v1/orders")).status).toBe(200);
  expect((await apiWith(key)("GET", "/v1/customers")).status).toBe(403);
  const cleared = { name: null, ip_allowlist: [], expires_at: null };
  expect((await platform.api("PATCH", `/v1/api_keys/${key.id}`, cleared)).body).toMatchObject({
    ...cleared,
    scopes: ["orders:read"],
  });
  await platform.api("PATCH", `/v1/api_keys/${key.id}`, { ip_allowlist: ["203.0.113.0/24"] });
  expect((await apiWith(key)("GET", "/v1/orders")).body.code).toBe("ip_not_allowed");
});

it("never lets a key exceed its editor's permissions", async () => {
  const editor = await create({ scopes: ["api_keys:write", "customers:read"], expires_at: IN_A_DAY });
  const key = await create({ scopes: ["customers:read"], expires_at: IN_A_DAY });
  const edit = (fields: object, id = key.id) => apiWith(editor)("PATCH", `/v1/api_keys/${id}`, fields);
  expect((await edit({ scopes: ["orders:write"] })).body.code).toBe("insufficient_scope");
  expect((await edit({ expires_at: IN_TWO_DAYS })).body.code).toBe("exceeds_creator");
  expect((await edit({ expires_at: null })).body.code).toBe("exceeds_creator");
  expect((await edit({ expires_at: IN_TWO_DAYS }, editor.id)).body.code).toBe("exceeds_creator");
  const stronger = await create({ scopes: ["orders:write"], expires_at: IN_A_DAY });
  expect((await edit({ name: "mine" }, stronger.id)).status).toBe(403);
  const unchanged = await platform.api("GET", `/v1/api_keys/${key.id}`);
  expect(unchanged.body).toMatchObject({ scopes: ["customers:read"], expires_at: IN_A_DAY });
  expect((await edit({ name: "reports" })).status).toBe(200);
});

it("an update rejects times that have passed, scopes of a full-access key, and keys that are revoked", async () => {
  const key = await create({ scopes: ["customers:read"] });
  const path = `/v1/api_keys/${key.id}`;
  const past = await platform.api("PATCH", path, { expires_at: "2020-01-01T00:00:00Z" });
  expect(past.body.errors).toMatchObject([{ pointer: "/expires_at", code: "out_of_range" }]);
  const full = await create({});
  const narrowed = await platform.api("PATCH", `/v1/api_keys/${full.id}`, { scopes: ["customers:read"] });
  expect(narrowed.body.errors).toMatchObject([{ pointer: "/scopes" }]);
  await platform.api("POST", `${path}/revoke`);
  expect((await platform.api("PATCH", path, { name: "x" })).body).toMatchObject({
    status: 409,
    code: "key_not_usable",
  });
  expect((await platform.live("PATCH", path, { name: "x" })).status).toBe(404);
});
