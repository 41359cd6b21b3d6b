import { describe, expect, it } from "vitest";
import { formatCredential } from "../../src/contract/credentials.ts";
import { API_VERSIONS, LATEST_VERSION } from "../../src/contract/versions.ts";
import { apiOf } from "../support/api.ts";
import { kitPlatform } from "../testing/kit.ts";

const platform = kitPlatform();

const call = (authorization: string | undefined, path = "/v1/me") =>
  apiOf(platform.baseUrl, undefined)(
    "GET",
    path,
    undefined,
    authorization === undefined ? {} : { Authorization: authorization },
  );

describe("a missing or malformed credential is 401", () => {
  it("includes no error if there was no credential", async () => {
    const response = await call(undefined);
    expect(response).toMatchObject({ status: 401, body: { code: "missing_credential" } });
    expect(response.headers.get("www-authenticate")).toBe(
      `Bearer realm="service", resource_metadata="${platform.baseUrl}/.well-known/oauth-protected-resource"`,
    );
  });

  it("does not read a credential from the query", async () => {
    const response = await call(undefined, `/v1/me?access_token=${platform.apiKey}`);
    expect(response.status).toBe(401);
  });

  it.each([
    ["Basic", () => "Basic dXNlcjpwYXNz"],
    ["Bearer alone", () => "Bearer"],
    ["two tokens", () => `Bearer ${platform.apiKey} ${platform.apiKey}`],
    ["garbage", () => "Bearer hello"],
    ["a key cut off", () => `Bearer ${platform.apiKey.slice(0, -1)}`],
    ["an unknown key", () => `Bearer ${formatCredential("sk_sandbox_", Buffer.alloc(32, 7))}`],
    ["a refresh token", () => `Bearer ${formatCredential("rt_", Buffer.alloc(32, 7))}`],
  ])("%s", async (_name, authorization) => {
    const response = await call(authorization());
    expect(response).toMatchObject({ status: 401, body: { code: "invalid_credential" } });
    expect(response.headers.get("www-authenticate")).toContain('error="invalid_token"');
  });

  it("distinguishes a mistyped key from an unknown one", async () => {
    const key = platform.apiKey;
    const typo = key.slice(0, 20) + (key[20] === "a" ? "b" : "a") + key.slice(21);
    expect((await call(`Bearer ${typo}`)).body.detail).toContain("incomplete or mistyped");
  });

  it("accepts the scheme in any case", async () => {
    expect((await call(`bearer ${platform.apiKey}`)).status).toBe(200);
  });

  it("precedes every other error of the request", async () => {
    const response = await apiOf(platform.baseUrl, undefined)("POST", "/v1/customers?x=1", "{", {
      "Service-Version": "x",
    });
    expect(response.status).toBe(401);
  });
});

describe("the owner of a credential", () => {
  it("is returned in both environments", async () => {
    const sandbox = (await call(`Bearer ${platform.apiKey}`)).body;
    const live = (await call(`Bearer ${platform.liveKey}`)).body;
    expect(sandbox).toMatchObject({ object: "identity", environment: "sandbox", livemode: false });
    expect(live).toMatchObject({ environment: "live", livemode: true, account: sandbox.account });
    expect(JSON.stringify(sandbox)).not.toContain(platform.apiKey);
  });
});

describe("versions", () => {
  const withVersion = (version: string) =>
    apiOf(platform.baseUrl, platform.apiKey)("GET", "/v1/me", undefined, { "Service-Version": version });

  it.each(["2024-13-40", "2099-01-01", "latest", ""])("rejects %j", async (version) => {
    expect((await withVersion(version)).body).toMatchObject({ status: 400, code: "unsupported_version" });
  });

  it("returns the version of the response", async () => {
    for (const { date } of API_VERSIONS) expect((await withVersion(date)).headers.get("service-version")).toBe(date);
    expect((await call(`Bearer ${platform.apiKey}`)).headers.get("service-version")).toBe(LATEST_VERSION);
  });
});
