import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { formatCredential } from "../../src/contract/credentials.ts";
import { apiOf } from "../support/api.ts";
import { type ServedPlatform, servePlatform } from "../support/platform.ts";
import { runCli } from "../support/run-cli.ts";

// Refills one token in more than ten minutes: used tokens do not return during a test.
const BURST = 5;
let platform: ServedPlatform;

beforeEach(async () => {
  platform = await servePlatform(["--rate-limit", "0.001", "--rate-burst", String(BURST)]);
});
afterEach(() => platform.stop());

const call = (key: string | undefined, path = "/v1/me") => apiOf(platform.baseUrl, key)("GET", path);

describe("a credential that exceeds its rate limit", () => {
  it("gets 429 with the wait, without affecting another credential", async () => {
    for (let left = BURST - 1; left >= 0; left--) {
      const response = await call(platform.sandboxKey);
      expect(response.status).toBe(200);
      expect(response.headers.get("ratelimit-policy")).toBe(`"default";q=${BURST};w=5000`);
      expect(response.headers.get("ratelimit")).toMatch(new RegExp(`^"default";r=${left};t=\\d+$`));
    }
    const rejected = await call(platform.sandboxKey);
    expect(rejected).toMatchObject({ status: 429, body: { code: "rate_limited" } });
    expect(Number(rejected.headers.get("retry-after"))).toBeGreaterThan(900);
    expect(rejected.headers.get("ratelimit")).toMatch(/r=0/);
    expect((await call(platform.liveKey)).status).toBe(200);
  });

  it("still gets 401 and 403 before 429", async () => {
    expect((await call(undefined)).status).toBe(401);
    expect((await call(`${platform.sandboxKey}x`)).status).toBe(401);
    const sandboxOnly = await apiOf(platform.baseUrl, platform.liveKey)("POST", "/v1/events", {});
    expect(sandboxOnly.status).toBe(403);
  });

  it("makes the CLI exit with 6 and print the wait", async () => {
    for (let count = 0; count < BURST; count++) expect((await call(platform.sandboxKey)).status).toBe(200);
    const { exitCode, stdout, stderr } = await runCli(["customers", "list"], { env: platform.env });
    expect({ exitCode, stdout }).toEqual({ exitCode: 6, stdout: "" });
    expect(stderr).toContain("exceeded its rate limit");
  });
});

describe("rejected credentials from one address", () => {
  it("get 401 a hundred times, then 429, but missing and malformed ones always get 401", async () => {
    const guess = formatCredential("sk_sandbox_", Buffer.alloc(32, 3));
    // At once: one more attempt is allowed each second.
    const checkedAt = async (path: string) => {
      const responses = await Promise.all(Array.from({ length: 130 }, () => call(guess, path)));
      const count = (status: number) => responses.filter((response) => response.status === status).length;
      expect(count(401) + count(429)).toBe(130);
      return count(401);
    };
    const checked = await checkedAt("/v1/me");
    expect(checked).toBeGreaterThanOrEqual(100);
    expect(checked).toBeLessThan(130);
    expect(await checkedAt("/v1/events/stream")).toBeLessThan(100);
    expect((await call(undefined)).status).toBe(401);
    expect((await call("hello")).status).toBe(401);
    expect((await call(`${guess} ${guess}`)).status).toBe(401);
  });
});
