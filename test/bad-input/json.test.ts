import { describe, expect, it } from "vitest";
import { apiOnPlatform } from "../support/api-on-platform.ts";

const { api } = apiOnPlatform();

const many = (count: number, value: unknown = 1, name = "field_") =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${name}${index}`, value]));

describe("text that is almost JSON", () => {
  it.each([
    ["a byte order mark", "\ufeff{}"],
    ["UTF-16", Buffer.from('{"email":"a@example.com"}', "utf16le")],
    ["NaN", '{"amount":NaN}'],
    ["Infinity", '{"amount":-Infinity}'],
    ["a comment", '{"email":"a@example.com"/* why */}'],
    ["a comma at the end", '{"email":"a@example.com",}'],
    ["single quotes", "{'email':'a@example.com'}"],
    ["a space that JSON does not know", '{\u00a0"email":"a@example.com"}'],
    ["hexadecimal", '{"amount":0x10}'],
    ["a number without a digit behind its point", '{"amount":1.}'],
    ["a wrong escape", '{"email":"\\x61@example.com"}'],
    ["two values", "{}{}"],
    ["a number of a million digits", `{"amount":${"9".repeat(1_000_000)}}`],
    ["a string of a million characters without an end", `{"email":"${"x".repeat(1_000_000)}`],
    ["half a million escapes without an end", `{"email":"${"\\\\".repeat(500_000)}`],
  ])("%s", async (_name, body) => {
    const response = await api("POST", "/v1/customers", body);
    expect(response).toMatchObject({ status: 400, body: { code: "invalid_json" } });
    expect(JSON.stringify(response.body).length).toBeLessThan(1000);
  });

  it.each([
    ["an overlong encoding", "\xc0\x80"],
    ["an encoded surrogate", "\xed\xa0\x80"],
    ["a character beyond the last", "\xf4\x90\x80\x80"],
    ["a character that is cut off", "\xe2\x82"],
  ])("is rejected if its UTF-8 has %s", async (_name, bytes) => {
    const body = Buffer.from(`{"email":"a@example.com","name":"${bytes}"}`, "latin1");
    expect((await api("POST", "/v1/customers", body)).body).toMatchObject({
      code: "invalid_json",
      detail: expect.stringContaining("UTF-8"),
    });
  });

  it.each(["\u0080", "\u0085", "\u009b31m", "\u009f"])(
    "the control character in %j, which moves terminals",
    async (name) => {
      for (const body of [
        JSON.stringify({ email: "c1@example.com", name }),
        `{"name":"\\u00${name.charCodeAt(0).toString(16)}"}`,
      ]) {
        expect((await api("POST", "/v1/customers", body)).body).toMatchObject({
          code: "invalid_json",
          detail: expect.stringContaining("control character"),
        });
      }
    },
  );
});

describe("unknown fields", () => {
  it.each([1, 7, 8, 9, 100, 20_000])("rejects %d of them, and lists at most 8", async (count) => {
    const email = `unknown-${count}@example.com`;
    const response = await api("POST", "/v1/customers", { email, ...many(count) });
    expect(response.status).toBe(400);
    expect(response.body.errors).toHaveLength(Math.min(count, 8));
    expect(response.body.errors[0]).toMatchObject({ pointer: "/field_0", code: "unknown_field" });
    expect((await api("GET", `/v1/customers?email=${email}`)).body.data).toEqual([]);
  });

  it("do not hide other errors", async () => {
    const { body } = await api("POST", "/v1/customers", { email: 5, ...many(3) });
    expect(body.errors.map(({ pointer }: { pointer: string }) => pointer)).toContain("/email");
  });

  it("are shortened in the response", async () => {
    const { body } = await api("POST", "/v1/customers", { email: "a@example.com", ["x".repeat(500_000)]: 1 });
    expect(body.errors[0]).toMatchObject({ code: "unknown_field" });
    expect(JSON.stringify(body).length).toBeLessThan(1000);
  });

  it("are reported even if they are named like inherited properties", async () => {
    for (const name of ["toString", "constructor", "hasOwnProperty", "__defineGetter__"]) {
      const { body } = await api("POST", "/v1/customers", { email: "a@example.com", [name]: 1 });
      expect(body.errors, name).toEqual([expect.objectContaining({ pointer: `/${name}`, code: "unknown_field" })]);
    }
  });

  it("are accepted as metadata keys of any name, and located by a pointer if their value is invalid", async () => {
    const metadata = { toString: "a", constructor: "b", valueOf: "c" };
    expect((await api("POST", "/v1/customers", { email: "names@example.com", metadata })).body.metadata).toEqual(
      metadata,
    );
    const { body } = await api("POST", "/v1/customers", { email: "a@example.com", metadata: { "a/b~c": 5 } });
    expect(body.errors).toEqual([expect.objectContaining({ pointer: "/metadata/a~1b~0c" })]);
  });
});

describe("input over the limits", () => {
  it.each([8, 20, 40])("%d metadata keys that are too long", async (count) => {
    const metadata = many(count, "v", "k".repeat(41));
    const response = await api("POST", "/v1/customers", { email: `long-${count}@example.com`, metadata });
    expect(response.status).toBe(400);
    expect(response.body.errors[0]).toMatchObject({ code: "invalid_key" });
  });

  it.each([
    ["/v1/customers", "metadata", many(30_000, "v"), { email: "a@example.com" }],
    ["/v1/webhook_endpoints", "events", Array(50_000).fill("order.created"), { url: "https://example.com/" }],
    ["/v1/api_keys", "scopes", Array(50_000).fill("customers:read"), {}],
    ["/v1/api_keys", "ip_allowlist", Array(50_000).fill("10.0.0.0/8"), {}],
    ["/v1/oauth_apps", "redirect_uris", Array(20_000).fill("https://a.example/"), { name: "x" }],
  ])("POST %s rejects %s early, and other requests are served meanwhile", async (path, field, value, rest) => {
    const [response, other] = await Promise.all([api("POST", path, { ...rest, [field]: value }), api("GET", "/v1/me")]);
    expect(response.body.errors).toEqual([expect.objectContaining({ pointer: `/${field}`, code: "too_many" })]);
    expect(other.status).toBe(200);
  });
});
