import { describe, expect, it } from "vitest";
import { kitPlatform } from "../testing/kit.ts";

const platform = kitPlatform();

async function send(path: string, body: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${platform.baseUrl}/oauth/${path}`, {
    method: "POST",
    headers: { "Content-Type": "application/x-www-form-urlencoded", ...headers },
    body,
  });
  const respond = (await response.json()) as { error: string; error_description: string };
  return { status: response.status, respond, headers: response.headers };
}

const refresh = "grant_type=refresh_token&refresh_token=x";
const client = "client_id=app_service_cli";

describe("rejects malformed OAuth requests with OAuth errors", () => {
  it.each([
    ["token", "", 400, "invalid_request", "grant_type is missing"],
    ["token", "grant_type=%zz", 400, "invalid_request", "malformed escape"],
    ["token", "grant_type=\u00ff%00", 400, "invalid_request", "control character"],
    ["token", `grant_type=magic&${client}`, 400, "unsupported_grant_type", "must be one of"],
    ["token", `grant_type=refresh_token&${client}`, 400, "invalid_request", "refresh_token is missing"],
    ["token", `${refresh}&${client}&${client}`, 400, "invalid_request", "is repeated"],
    ["token", `${refresh}&client_id=__proto__`, 401, "invalid_client", "authentication failed"],
    ["token", `${refresh}&${client}&refresh_token=y`, 400, "invalid_request", "is repeated"],
    [
      "token",
      `grant_type=refresh_token&${client}&refresh_token=${"a".repeat(60_000)}`,
      400,
      "invalid_grant",
      "unknown",
    ],
    ["token", `grant_type=${"a".repeat(70_000)}`, 413, "invalid_request", "64 KiB"],
    ["device_authorization", `${client}&scope=%00`, 400, "invalid_request", "control character"],
    ["revoke", client, 400, "invalid_request", "token is missing"],
    ["revoke", `${client}&token=x&token=y`, 400, "invalid_request", "is repeated"],
  ])("/oauth/%s with %s", async (path, body, status, error, message) => {
    const { respond, headers, ...response } = await send(path, body);
    expect([response.status, respond.error]).toEqual([status, error]);
    expect(respond.error_description).toContain(message);
    expect(headers.get("cache-control")).toContain("no-store");
    expect(respond.error_description.length).toBeLessThan(300);
  });

  it.each(["Basic !!!", "Basic Og==", `Basic ${btoa("%zz:a")}`, "Bearer x", "Basic"])(
    "an app that authenticates with %s is rejected",
    async (authorization) => {
      const { status, respond, headers } = await send("token", refresh, { Authorization: authorization });
      expect([status, respond.error]).toEqual([401, "invalid_client"]);
      expect(headers.get("www-authenticate")).toMatch(/^Basic /);
    },
  );
});

it.each([
  "client_id=app_service_cli&redirect_uri=javascript:alert(1)",
  "client_id=%00",
  "client_id=app_service_cli&client_id=app_service_cli",
  "a".repeat(7000),
  "%zz",
])("the server shows an inert error page for /oauth/authorize?%s", async (query) => {
  const response = await fetch(`${platform.baseUrl}/oauth/authorize?${query}`, { redirect: "manual" });
  const page = await response.text();
  expect(response.status).toBe(400);
  expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
  expect(page).not.toMatch(/<script|javascript:alert\(1\)"/);
});
