import { request } from "node:http";
import { describe, expect, it } from "vitest";
import { covers, holds, parseAddress, parseRange } from "../../src/network/addresses.ts";
import { startEmbedded } from "./oauth/support/embedded-platform.ts";
import { apiOf } from "../support/api.ts";

/** Calls the API from one of this machine's addresses. */
function statusFrom(url: string, key: string, localAddress: string, headers: Record<string, string> = {}) {
  return new Promise<number>((resolve, reject) => {
    const sent = request(`${url}/v1/me`, { localAddress, headers: { Authorization: `Bearer ${key}`, ...headers } });
    sent.on("response", (response) => {
      response.resume();
      resolve(response.statusCode!);
    });
    sent.on("error", reject).end();
  });
}

const inRange = (range: string, address: string) => holds(parseRange(range)!, parseAddress(address)!);

describe("ranges", () => {
  it.each([
    ["10.0.0.0/8", "10.255.255.255", true],
    ["10.0.0.0/8", "11.0.0.0", false],
    ["10.1.2.3/8", "10.9.9.9", true],
    ["192.0.2.1/32", "192.0.2.1", true],
    ["192.0.2.1/32", "192.0.2.2", false],
    ["0.0.0.0/0", "203.0.113.9", true],
    ["0.0.0.0/0", "2001:db8::1", false],
    ["10.0.0.0/8", "::ffff:10.1.2.3", true],
    ["::ffff:10.0.0.0/104", "10.1.2.3", true],
    ["::ffff:10.0.0.0/104", "11.1.2.3", false],
    ["2001:db8::/32", "2001:db8:ffff::1", true],
    ["2001:db8::/32", "2001:db9::1", false],
    ["::/0", "2001:db8::1", true],
    ["::/0", "10.0.0.1", false],
    ["fe80::/10", "fe80::1%eth0", true],
    ["::1/128", "::1", true],
    ["1:2:3:4:5:6:7:8/128", "1:2:3:4:5:6:7:8", true],
    ["64:ff9b::/96", "64:ff9b::192.0.2.33", true],
  ])("%s and %s: %s", (range, address, expected) => {
    expect(inRange(range, address)).toBe(expected);
  });

  it.each([
    "10.0.0.0/33",
    "10.0.0.0",
    "10.0.0/8",
    "::/129",
    "10.0.0.0/08",
    "10.0.0.0/-1",
    "10.0.0.0/",
    "/8",
    "fe80::%1/10",
    "::ffff:10.0.0.0/95",
    "a/8",
    "",
  ])("%j is invalid", (text) => {
    expect(parseRange(text)).toBeUndefined();
  });

  it("cover the ranges within them", () => {
    const within = (outer: string, inner: string) => covers(parseRange(outer)!, parseRange(inner)!);
    expect(within("10.0.0.0/8", "10.1.0.0/16")).toBe(true);
    expect(within("10.0.0.0/8", "10.0.0.0/8")).toBe(true);
    expect(within("10.0.0.0/8", "10.0.0.0/7")).toBe(false);
    expect(within("10.0.0.0/8", "11.0.0.0/16")).toBe(false);
    expect(within("0.0.0.0/0", "::/0")).toBe(false);
  });
});

it("a key works only from its addresses, whatever the headers contain", async () => {
  const platform = await startEmbedded();
  const api = apiOf(platform.baseUrl, platform.sandboxKey);
  const { body } = await api("POST", "/v1/api_keys", { ip_allowlist: ["127.0.0.2/32", "2001:db8::/32"] });
  expect(await statusFrom(platform.baseUrl, body.key, "127.0.0.2")).toBe(200);
  expect(await statusFrom(platform.baseUrl, body.key, "127.0.0.1")).toBe(403);
  for (const name of ["X-Forwarded-For", "X-Real-IP", "Forwarded"]) {
    expect(await statusFrom(platform.baseUrl, body.key, "127.0.0.1", { [name]: "127.0.0.2" })).toBe(403);
  }
  const rejected = await apiOf(platform.baseUrl, body.key)("GET", "/v1/me");
  expect(rejected).toMatchObject({ status: 403, body: { code: "ip_not_allowed" } });
  expect(rejected.body.detail).toContain("127.0.0.1");
  expect(rejected.headers.get("WWW-Authenticate")).toBe('Bearer realm="service", error="insufficient_scope"');
  await platform.close();
});

it("an IPv4 peer on an IPv6 socket counts as IPv4", async () => {
  const platform = await startEmbedded({ host: "::" });
  const url = `http://127.0.0.1:${new URL(platform.baseUrl).port}`;
  const api = apiOf(url, platform.sandboxKey);
  const four = (await api("POST", "/v1/api_keys", { ip_allowlist: ["127.0.0.0/8"] })).body;
  const six = (await api("POST", "/v1/api_keys", { ip_allowlist: ["::1/128"] })).body;
  expect(await statusFrom(url, four.key, "127.0.0.1")).toBe(200);
  expect(await statusFrom(url, six.key, "127.0.0.1")).toBe(403);
  const overSix = url.replace("127.0.0.1", "[::1]");
  expect(await statusFrom(overSix, four.key, "::1")).toBe(403);
  expect(await statusFrom(overSix, six.key, "::1")).toBe(200);
  await platform.close();
});

it("the client is the last forwarded address that does not belong to a trusted proxy", async () => {
  const trustedProxies = ["127.0.0.1/32", "10.0.0.2/32"].map((range) => parseRange(range)!);
  const platform = await startEmbedded({ trustedProxies });
  const { body } = await apiOf(platform.baseUrl, platform.sandboxKey)("POST", "/v1/api_keys", {
    ip_allowlist: ["203.0.113.9/32"],
  });
  const statusOf = (chain: string, peer = "127.0.0.1") =>
    statusFrom(platform.baseUrl, body.key, peer, { "X-Forwarded-For": chain });
  expect(await statusOf("203.0.113.9")).toBe(200);
  expect(await statusOf("198.51.100.1, 203.0.113.9, 10.0.0.2")).toBe(200);
  expect(await statusOf("203.0.113.9, 198.51.100.1, 10.0.0.2")).toBe(403);
  expect(await statusOf("203.0.113.9, 10.0.0.3")).toBe(403);
  expect(await statusOf("203.0.113.9, unknown, 10.0.0.2")).toBe(403);
  expect(await statusOf("203.0.113.9", "127.0.0.2")).toBe(403);
  await platform.close();
});
