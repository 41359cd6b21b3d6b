import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { formatCredential } from "../../src/contract/credentials.ts";
import { type Api, apiOf } from "../support/api.ts";
import { type ServedPlatform, servePlatform } from "../support/platform.ts";
import { runCli } from "../support/run-cli.ts";

const HOUR = 3600;
const BURST = 12;

let platform: ServedPlatform;
let api: Api;
beforeAll(async () => {
  // Tokens that a test uses do not refill during the test.
  platform = await servePlatform(["--rate-limit", "0.001", "--rate-burst", String(BURST)]);
  api = apiOf(platform.baseUrl, platform.sandboxKey);
});
afterAll(() => platform.stop());

async function created(fields: object): Promise<{ id: string; key: string }> {
  return (await api("POST", "/v1/api_keys", { scopes: ["customers:read"], ...fields })).body as {
    id: string;
    key: string;
  };
}

async function revoked(): Promise<string> {
  const { id, key } = await created({});
  await api("POST", `/v1/api_keys/${id}/revoke`, {});
  return key;
}

async function expired(): Promise<string> {
  const { body: clock } = await api("GET", "/v1/test_clock");
  const end = new Date(Date.parse(clock.now as string) + HOUR * 1000).toISOString().replace(/\.\d+Z$/, "Z");
  const { key } = await created({ expires_at: end });
  await api("POST", "/v1/test_clock/advance", { seconds: 2 * HOUR });
  return key;
}

async function usedUp(): Promise<string> {
  const { key } = await created({});
  for (let calls = 0; calls < BURST; calls++) await apiOf(platform.baseUrl, key)("GET", "/v1/customers");
  return key;
}

describe("an invalid credential", () => {
  it("gets 401, and the CLI explains how to sign in", async () => {
    const response = await apiOf(platform.baseUrl, undefined)("GET", "/v1/customers");
    expect(response).toMatchObject({ status: 401, body: { code: "missing_credential" } });
    const { exitCode, stderr } = await runCli(["customers", "list"], { env: { SERVICE_BASE_URL: platform.baseUrl } });
    expect({ exitCode, stderr }).toEqual({ exitCode: 4, stderr: expect.stringContaining("service login") });
  });

  it.each<[string, () => Promise<string> | string, number, string, number]>([
    ["a mistyped one", () => `${platform.sandboxKey.slice(0, -1)}!`, 401, "invalid_credential", 4],
    ["an unknown one", () => formatCredential("sk_sandbox_", Buffer.alloc(32, 7)), 401, "invalid_credential", 4],
    ["a revoked one", revoked, 401, "revoked_credential", 4],
    ["an expired one", expired, 401, "expired_credential", 4],
    [
      "one that lacks the scope",
      async () => (await created({ scopes: ["orders:read"] })).key,
      403,
      "insufficient_scope",
      5,
    ],
    [
      "one that is for other addresses",
      async () => (await created({ ip_allowlist: ["192.0.2.0/24"] })).key,
      403,
      "ip_not_allowed",
      5,
    ],
    ["one that called too often", usedUp, 429, "rate_limited", 6],
  ])("%s", async (_what, credential, status, code, exitCode) => {
    const key = await credential();
    const response = await apiOf(platform.baseUrl, key)("GET", "/v1/customers");
    expect(response).toMatchObject({ status, body: { status, code } });
    const env = { SERVICE_BASE_URL: platform.baseUrl, SERVICE_API_KEY: key };
    const ended = await runCli(["customers", "list", "--json"], { env });
    expect(ended).toMatchObject({ exitCode, stdout: "" });
    expect(JSON.parse(ended.stderr)).toMatchObject({ status, code });
  });
});

describe("a rejected key", () => {
  const key = formatCredential("sk_sandbox_", Buffer.alloc(32, 7));

  it.each([
    ["customers list", { SERVICE_API_KEY: key }, "Set SERVICE_API_KEY to a valid key"],
    ["listen", { SERVICE_API_KEY: key }, "Set SERVICE_API_KEY to a valid key"],
    ["customers list --api-key-stdin", {}, "Pass a valid key with --api-key-stdin"],
    ["listen --api-key-stdin", {}, "Pass a valid key with --api-key-stdin"],
  ])("is reported by service %s with its source", async (command, env, message) => {
    const ended = await runCli(command.split(" "), {
      env: { SERVICE_BASE_URL: platform.baseUrl, ...env },
      input: key,
    });
    expect(ended).toMatchObject({ exitCode: 4, stderr: expect.stringContaining(message) });
  });
});
