import { describe, expect, it } from "vitest";
import { kitPlatform } from "../testing/kit.ts";
import { sendRaw } from "../support/raw-http.ts";

const platform = kitPlatform();

/** Returns the message of the error response, which must name the mistake and the correct form. */
async function detailOf(first: string, headers: readonly string[] = [], body = ""): Promise<string> {
  const lines = [first, "Host: localhost", `Authorization: Bearer ${platform.apiKey}`, ...headers, "", body];
  const response = await sendRaw(platform.baseUrl, lines.join("\r\n"));
  expect(response.headers["content-type"]).toMatch(/^application\/problem\+json/);
  return (JSON.parse(response.body) as { detail: string }).detail;
}
const post = (body: string, path = "/v1/customers") =>
  detailOf(
    `POST ${path} HTTP/1.1`,
    ["Content-Type: application/json", `Content-Length: ${Buffer.byteLength(body)}`],
    body,
  );
const json = (value: object) => post(JSON.stringify(value));
const get = (path: string) => detailOf(`GET ${path} HTTP/1.1`);

describe("explains why a request is not valid HTTP", () => {
  const head = "POST /v1/customers HTTP/1.1";
  it.each([
    [head, ["Content-Length: 5", "Transfer-Encoding: chunked"], /Transfer-Encoding .* without a Content-Length/],
    [head, ["Content-Length: 5", "Content-Length: 6"], /Send one Content-Length/],
    [head, ["Content-Length: -5"], /Content-Length must be the number/],
    [head, ["Transfer-Encoding: chunked, chunked"], /Transfer-Encoding must be chunked/],
    ["GET /v1/me HTTP/1.1", ["X-Nul: a\0b"], /A header name or value/],
    ["GET /v1/m\tx HTTP/1.1", [], /percent-encoded/],
    ["GET /v1/me HTTP/3.0", [], /must end in HTTP\/1\.1/],
    ["GET /v1/me again HTTP/1.1", [], /one space between them/],
    ["get /v1/me HTTP/1.1", [], /uppercase/],
    ["CONNECT attacker.example:443 HTTP/1.1", [], /not a proxy/],
  ])("%j with %j", async (first, headers, message) => {
    expect(await detailOf(first, headers)).toMatch(message);
  });

  it("explains a chunk without a size", async () => {
    expect(await detailOf(head, ["Transfer-Encoding: chunked"], "zz\r\n")).toMatch(/its size in hexadecimal/);
  });
});

describe("rejects a repeated header that may occur only once", () => {
  it.each([
    ["Content-Type", "application/json", "text/plain"],
    ["Idempotency-Key", "one", "two"],
    ["Service-Version", "2026-11-01", "2026-11-01"],
  ])("%s", async (name, ...values) => {
    const headers = values.map((value) => `${name}: ${value}`);
    expect(await detailOf("POST /v1/customers HTTP/1.1", [...headers, "Content-Length: 2"], "{}")).toBe(
      `Send one ${name} header.`,
    );
  });
});

describe("paths and queries", () => {
  it("does not read a trailing slash as an ID", async () => {
    expect(await get("/v1/customers/")).toBe("The path /v1/customers/ does not exist. Did you mean /v1/customers?");
    for (const [path, meant] of [
      ["/v1/api_keys/key_1/rotate", "/v1/api_keys/key_1/roll"],
      ["/v1/orders/ord_354yQYzWILDRbEV56z2ig/complet", "/v1/orders/ord_354yQYzWILDRbEV56z2ig/complete"],
      ["/v1/webhook_endpoints/we_1/rotate", "/v1/webhook_endpoints/we_1/rotate_secret"],
    ] as const)
      expect(await get(path)).toBe(`The path ${path} does not exist. Did you mean ${meant}?`);
  });

  it("suggests existing paths for an unknown path", async () => {
    expect(await get("/v1/custmers")).toMatch(/ Did you mean \/v1\/customers\?$/);
  });

  it.each(["/v1/nothing/of/the/kind", "/v1/nope"])("suggests nothing for %s, which resembles no path", async (path) => {
    expect(await get(path)).toBe(`The path ${path} does not exist. All paths: ${platform.baseUrl}/docs/reference.`);
  });

  it.each([
    ["limit=0", "?limit must be at least 1."],
    ["limit=101", "?limit must be at most 100."],
    ["foo=1", "known parameters: limit, cursor, email"],
  ])("%s", async (query, message) => {
    expect(await get(`/v1/customers?${query}`)).toContain(message);
  });

  it("explains that an operation has no parameters", async () => {
    expect(await get("/v1/me?verbose=1")).toBe("?verbose is not a parameter of this request, which has none.");
  });
});

describe("bodies", () => {
  it.each([
    ["null", "The body must be an object"],
    ['{"email":""}', "email must be an email address"],
    ['{"email":1,"name":""}', "email must be a string. 1 more error: see `errors`."],
    ["{}", "email is required."],
    ['{"email":"a@example.com","name":""}', "name must not be empty."],
    ["\ufeff{}", "byte order mark"],
    ['{"email":"a', "A string is not closed (at character 12)"],
    ['{"email":"a\nb"}', "A string contains a control character (at character 12)"],
    ['{"email":"\\x"}', "A string contains an invalid escape (at character 11)"],
  ])("%j", async (body, message) => {
    expect((await post(body)).toLowerCase()).toContain(message.toLowerCase());
  });

  it("does not round a fraction to an integer", async () => {
    expect(await post('{"amount":100.00000000000000000001,"currency":"EUR"}', "/v1/orders")).toMatch(
      /would be rounded to/,
    );
  });

  it("shows the characters that email addresses and phone numbers cannot have", async () => {
    expect(await json({ email: "ada@bücher.example" })).toContain("ASCII");
    expect(await json({ email: "a@example.com", phone: "+49 30 123456" })).toContain("digits only");
  });
});
