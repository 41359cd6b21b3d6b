import { describe, expect, it } from "vitest";
import { parseBaseUrl, urlOf } from "../../src/client/base-url.ts";
import { isLoopback } from "../../src/network/connect-options.ts";
import { UnsafeRequestError } from "../../src/client/errors.ts";

describe("parseBaseUrl", () => {
  it.each([
    "http://127.0.0.1:4010",
    "http://localhost:4010",
    "http://[::1]:4010",
    "http://platform.localhost",
    "https://api.example.com",
    "https://api.example.com/platform/",
  ])("accepts %s", (text) => {
    expect(parseBaseUrl(text, { insecure: false })).toBeInstanceOf(URL);
  });

  it.each([
    ["http://api.example.com", "clear text"],
    ["http://192.168.1.5:4010", "clear text"],
    ["http://127.0.0.1.example.com", "clear text"],
    ["http://localhost.example.com", "clear text"],
    ["127.0.0.1:4010", "is not a URL"],
    ["localhost:4010", "does not begin with http:// or https://"],
    ["ftp://example.com", "does not begin with http:// or https://"],
    ["https://user:secret@example.com", "user name or password"],
    ["https://example.com?x=1", "query or a fragment"],
    ["https://example.com#x", "query or a fragment"],
    ["", "is not a URL"],
  ])("rejects %j", (text, reason) => {
    expect(() => parseBaseUrl(text, { insecure: false })).toThrow(UnsafeRequestError);
    expect(() => parseBaseUrl(text, { insecure: false })).toThrow(reason);
  });

  it("accepts plain http to another machine if this is allowed", () => {
    expect(parseBaseUrl("http://192.168.1.5:4010", { insecure: true }).host).toBe("192.168.1.5:4010");
  });

  it("does not repeat a password in its error", () => {
    expect(() => parseBaseUrl("https://user:hunter2@example.com", { insecure: false })).not.toThrow("hunter2");
  });
});

describe("isLoopback", () => {
  it.each([
    ["127.0.0.1", true],
    ["127.8.9.1", true],
    ["[::1]", true],
    ["::ffff:127.0.0.1", true],
    ["LOCALHOST", true],
    ["127.0.0.1.nip.io", false],
    ["0.0.0.0", false],
    ["10.0.0.1", false],
  ])("%s: %s", (host, expected) => {
    expect(isLoopback(host)).toBe(expected);
  });
});

describe("urlOf", () => {
  it.each([
    ["/v1/customers", "/api/v1/customers"],
    ["/v1/customers?email=a?b&limit=1", "/api/v1/customers?email=a?b&limit=1"],
  ])("appends %s to the path of the base URL", (path, expected) => {
    expect(urlOf(new URL("https://example.com/api"), path).href).toBe(`https://example.com${expected}`);
  });
});
