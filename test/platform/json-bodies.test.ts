import { describe, expect, it } from "vitest";
import { apiOnPlatform } from "../support/api-on-platform.ts";

const { api } = apiOnPlatform();

describe("bodies that are not acceptable JSON", () => {
  const deep = `${'{"metadata":'.repeat(40)}1${"}".repeat(40)}`;
  it.each([
    ["cut off", '{"email":"a@example.com"', "Expected a comma or }, not the end of the body (at character 25)"],
    ["not JSON", "{email}", "Expected a key in double quotes or }, not e (at character 2)"],
    ["a comma too many", '{"metadata":{"a":"b",}}', "Expected a key in double quotes, not } (at character 22)"],
    ["a missing comma", '{"email":"a@example.com" "name":"A"}', 'Expected a comma or }, not " (at character 26)'],
    ["a wrong bracket", '{"metadata":{]}', "(at character 14)"],
    ["another language's word", '{"name":None}', "Expected a value, not N (at character 9)"],
    ["text behind it", '{"email":"a@example.com"} x', "Expected the end of the body, not x (at character 27)"],
    ["__proto__", '{"email":"a@example.com","__proto__":{"a":1}}', "__proto__"],
    ["constructor.prototype", '{"email":"a@example.com","metadata":{"constructor":{"prototype":1}}}', "prototype"],
    ["a key twice", '{"email":"a@example.com","email":"b@example.com"}', "is repeated"],
    ["a key twice, once escaped", '{"email":"a@example.com","\\u0065mail":"b@example.com"}', "is repeated"],
    ["a lone surrogate", '{"email":"a@example.com","name":"\\ud800"}', "surrogate"],
    ["NUL", '{"email":"a@example.com","name":"a\\u0000b"}', "control character"],
    ["an escape character", '{"email":"a@example.com","name":"a\\u001bb"}', "control character"],
    ["a raw newline in a string", '{"email":"a@example.com","name":"a\nb"}', "control character"],
    ["1e999", '{"email":"a@example.com","metadata":{"a":1e999}}', "too large"],
    ["2^53 + 1", '{"amount":9007199254740993,"currency":"EUR"}', "too large"],
    ["deeper than 32 levels", deep, "deeper than 32"],
    ["100,000 levels", "[".repeat(100_000), "deeper than 32"],
    ["a number of 65 characters", `{"amount":${"1".padEnd(65, "0")}}`, "more than 64 characters (at character 11)"],
    ["a leading zero", '{"amount":01}', "(at character 12)"],
  ])("%s", async (_name, body, message) => {
    const response = await api("POST", "/v1/customers", body);
    expect(response.status).toBe(400);
    expect(response.body.code).toBe("invalid_json");
    expect(response.body.detail).toContain(message);
  });

  it("invalid UTF-8", async () => {
    const response = await api(
      "POST",
      "/v1/customers",
      Buffer.from('{"email":"a@example.com","name":"\xff"}', "latin1"),
    );
    expect(response.body).toMatchObject({ status: 400, code: "invalid_json" });
    expect(response.body.detail).toContain("UTF-8");
  });

  it("an object is stored as it was sent", async () => {
    const name = 'Zoë "Ω" \u{1f600} \\ / tab\tend';
    const response = await api("POST", "/v1/customers", { email: "exact@example.com", name });
    expect(response.body.name).toBe(name);
    expect((await api("GET", `/v1/customers/${response.body.id}`)).body.name).toBe(name);
  });
});

describe("bodies of the wrong shape", () => {
  it("empty", async () => {
    const response = await api("POST", "/v1/customers", "");
    expect(response.status).toBe(400);
    expect(response.body.errors).toEqual([{ pointer: "/email", code: "required", detail: "is required" }]);
  });

  it.each(["null", "[]", '"text"', "5"])("%s instead of an object", async (body) => {
    const response = await api("POST", "/v1/customers", body);
    expect(response.status).toBe(400);
    expect(response.body.detail).toContain("must be an object");
  });

  it("reports an unknown field and suggests the intended one", async () => {
    const response = await api("POST", "/v1/customers", { email: "a@example.com", fone: "+442071838750" });
    expect(response.body.errors).toEqual([
      { pointer: "/fone", code: "unknown_field", detail: expect.stringContaining("did you mean phone?") },
    ]);
  });

  it("reports a misspelled field first, and not that the intended one is missing", async () => {
    const response = await api("POST", "/v1/orders", { amount: "1999", curency: "EUR" });
    expect(response.body.errors).toMatchObject([{ pointer: "/curency" }, { pointer: "/amount", code: "wrong_type" }]);
    expect(response.body.detail).toBe(
      "curency is not a field of this request; did you mean currency? 1 more error: see `errors`.",
    );
    expect(Object.keys(response.body.errors[0])).toEqual(["pointer", "code", "detail"]);
  });

  it("reports wrong values before unknown fields", async () => {
    const response = await api("POST", "/v1/orders", { foo: 1, amount: 1999, currency: "euro" });
    expect(response.body.errors).toMatchObject([{ pointer: "/currency" }, { pointer: "/foo" }]);
    expect(response.body.detail).toMatch(/^currency must be .* 1 more error/);
  });

  it("lists every wrong field with its path", async () => {
    const response = await api("POST", "/v1/customers", { email: 5, name: [], metadata: { a: 1 } });
    expect(response.body.errors.map((error: { pointer: string }) => error.pointer).sort()).toEqual([
      "/email",
      "/metadata/a",
      "/name",
    ]);
  });

  it("rejects fields if an operation has none", async () => {
    const order = (await api("POST", "/v1/orders", { amount: 1, currency: "EUR" })).body;
    const response = await api("POST", `/v1/orders/${order.id}/complete`, { amount: 2 });
    expect(response.body).toMatchObject({ status: 400, code: "invalid_request" });
    expect((await api("GET", `/v1/orders/${order.id}`)).body.status).toBe("pending");
  });
});
