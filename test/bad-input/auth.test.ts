import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { formatCredential } from "../../src/contract/credentials.ts";
import type { EmbeddedPlatform } from "../platform/oauth/support/embedded-platform.ts";
import { type PreparedAccount, startWithTwoAccounts } from "../platform/oauth/support/two-accounts.ts";
import { apiOf } from "../support/api.ts";
import { type RawResponse, sendRaw } from "../support/raw-http.ts";

let platform: EmbeddedPlatform;
let accounts: [PreparedAccount, PreparedAccount];
let key: string;
beforeAll(async () => {
  ({ platform, accounts } = await startWithTwoAccounts());
  key = accounts[0].sandboxKey;
});
afterAll(() => platform.close());

const get = (...headers: string[]): Promise<RawResponse> => {
  const lines = ["GET /v1/me HTTP/1.1", "Host: localhost", ...headers, "", ""];
  return sendRaw(platform.baseUrl, Buffer.from(lines.join("\r\n"), "latin1"));
};
const codeOf = ({ status, body }: RawResponse) => [status, (JSON.parse(body) as { code?: string }).code];

describe("a credential", () => {
  it.each([
    ["in another header", () => `X-Api-Key: ${key}`],
    ["in a cookie", () => `Cookie: token=${key}; Authorization=Bearer ${key}`],
    ["in a proxy header", () => `Proxy-Authorization: Bearer ${key}`],
    ["in an empty header", () => "Authorization:"],
  ])("is missing if it is %s", async (_where, header) => {
    const response = await get(header());
    expect(codeOf(response)).toEqual([401, "missing_credential"]);
    expect(response.headers["www-authenticate"]).toMatch(
      /^Bearer realm="service", resource_metadata="http:.*\/\.well-known\/oauth-protected-resource"$/,
    );
  });

  it.each([
    ["as a user name of Basic", () => `Basic ${Buffer.from(`${key}:`).toString("base64")}`],
    ["without a scheme", () => key],
    ["after a tab", () => `Bearer\t${key}`],
    ["in quotes", () => `Bearer "${key}"`],
    ["with a comma", () => `Bearer ${key},`],
    ["in letters of another alphabet", () => "Bearer \xe4\xf6"],
    ["8,000 characters long", () => `Bearer ${"a".repeat(8000)}`],
    ["as a parameter", () => `Bearer token=${key}`],
    ["under the prefix of the other environment", () => `Bearer ${key.replace("sandbox", "live")}`],
    ["as a refresh token", () => `Bearer ${formatCredential("rt_", Buffer.alloc(32, 1))}`],
    ["as a client secret", () => `Bearer ${formatCredential("cs_", Buffer.alloc(32, 1))}`],
  ])("is invalid if it is %s", async (_where, value) => {
    const response = await get(`Authorization: ${value()}`);
    expect(codeOf(response)).toEqual([401, "invalid_credential"]);
    expect(response.headers["www-authenticate"]).toContain('error="invalid_token"');
    expect(response.body).not.toContain(key);
  });

  it("is accepted regardless of other headers", async () => {
    expect((await get(`Authorization: Bearer ${key}`, "X-Forwarded-For: 127.0.0.1", "Cookie: a=b")).status).toBe(200);
  });
});

it("the API rejects a repeated Service-Version header", async () => {
  const twice = ["Service-Version: 2026-11-01", "Service-Version: 2026-11-01"];
  expect(codeOf(await get(`Authorization: Bearer ${key}`, ...twice))).toEqual([400, "invalid_header"]);
});

describe("an Idempotency-Key", () => {
  it("is independent of the same key in another account or environment", async () => {
    const headers = { "Idempotency-Key": "shared" };
    const [first, other] = accounts;
    const ids = new Set<string>();
    for (const credential of [first.sandboxKey, first.liveKey, other.sandboxKey, other.liveKey]) {
      const body = { email: `${ids.size}@example.com` };
      const response = await apiOf(platform.baseUrl, credential)("POST", "/v1/customers", body, headers);
      expect([response.status, response.headers.get("idempotent-replayed")]).toEqual([201, null]);
      ids.add(response.body.id);
    }
    expect(ids.size).toBe(4);
  });

  it("is independent of the same key on another path", async () => {
    const api = apiOf(platform.baseUrl, key);
    const headers = { "Idempotency-Key": "one-path" };
    expect((await api("POST", "/v1/orders", { amount: 1, currency: "EUR" }, headers)).status).toBe(201);
    expect((await api("POST", "/v1/payments", { amount: 1, currency: "EUR" }, headers)).status).toBe(201);
  });

  it.each(["\xf0\x9f\x98\x80", "a\tb", '"a" "b"'])("rejects a value that is not visible ASCII: %j", async (value) => {
    const body = '{"email":"idempotent@example.com"}';
    const head = [
      "POST /v1/customers HTTP/1.1",
      "Host: localhost",
      `Authorization: Bearer ${key}`,
      `Idempotency-Key: ${value}`,
      "Content-Type: application/json",
      `Content-Length: ${body.length}`,
    ];
    const response = await sendRaw(platform.baseUrl, Buffer.from(`${head.join("\r\n")}\r\n\r\n${body}`, "latin1"));
    expect(codeOf(response)).toEqual([400, "invalid_idempotency_key"]);
  });
});
