import { describe, expect, it } from "vitest";
import { kitPlatform } from "../testing/kit.ts";
import { type RawResponse, sendRaw } from "../support/raw-http.ts";

const platform = kitPlatform();

const send = (first: string, headers: readonly string[] = [], body: string | Buffer = ""): Promise<RawResponse> => {
  const lines = [first, "Host: localhost", `Authorization: Bearer ${platform.apiKey}`, ...headers, "", ""];
  return sendRaw(platform.baseUrl, Buffer.concat([Buffer.from(lines.join("\r\n"), "latin1"), Buffer.from(body)]));
};
const post = (headers: readonly string[], body: string | Buffer = "") =>
  send("POST /v1/customers HTTP/1.1", ["Content-Type: application/json", ...headers], body);

function expectProblem(response: RawResponse, status: number, code: string): void {
  expect(response.status).toBe(status);
  expect(response.headers["content-type"]).toMatch(/^application\/problem\+json/);
  expect(JSON.parse(response.body)).toMatchObject({ status, code, request_id: response.headers["request-id"] });
}

describe("rejects an ambiguous request:", () => {
  it.each([
    ["an unknown transfer coding", ["Transfer-Encoding: xchunked"]],
    ["chunked that is not the last coding", ["Transfer-Encoding: chunked, identity"]],
    ["a length with a sign", ["Content-Length: +5"]],
    ["a length in hexadecimal", ["Content-Length: 0x5"]],
    ["a length that no number holds", ["Content-Length: 99999999999999999999"]],
    ["a folded header", ["X-Folded: a\r\n b"]],
    ["a space before the colon", ["X-Spaced : a"]],
    ["NUL in a header", ["X-Nul: a\0b"]],
  ])("%s", async (_what, headers) => {
    expectProblem(await post(headers), 400, "invalid_request");
  });

  it("rejects a chunk without a size", async () => {
    expectProblem(await post(["Transfer-Encoding: chunked"], "zz\r\n{}\r\n0\r\n\r\n"), 400, "invalid_request");
  });

  it("rejects two Host headers, and a missing one in HTTP/1.0", async () => {
    expectProblem(await send("GET /v1/me HTTP/1.1", ["Host: attacker.example"]), 400, "invalid_header");
    expectProblem(await sendRaw(platform.baseUrl, "GET /v1/me HTTP/1.0\r\n\r\n"), 400, "invalid_header");
  });
});

describe("a request line", () => {
  it.each([
    "GET /v1/me HTTP/3.0",
    "GET /v1/me again HTTP/1.1",
    "GET /v1/\tme HTTP/1.1",
    "GET /v1/m\xff HTTP/1.1",
    "PRI * HTTP/2.0",
  ])("rejects %j", async (line) => {
    expectProblem(await send(line), 400, "invalid_request");
  });

  it("does not forward a request line with another host's absolute URL", async () => {
    const { status, body } = await send("GET http://attacker.example/v1/me HTTP/1.1");
    expect([status, JSON.parse(body).object]).toEqual([200, "identity"]);
  });
});

describe("a request whose body never arrives", () => {
  const announced = ["Content-Type: application/json", "Content-Length: 100000"];

  it("gets 404 for an unknown path", async () => {
    expectProblem(await send("POST /v1/nothing HTTP/1.1", announced), 404, "not_found");
  });

  it("gets 405 for a method that the path does not have", async () => {
    const response = await send("PUT /v1/customers HTTP/1.1", announced);
    expectProblem(response, 405, "method_not_allowed");
    expect(response.headers.allow).toBe("GET, HEAD, OPTIONS, POST");
  });

  it("gets 401 for a wrong administrator token", async () => {
    expectProblem(await send("POST /admin/sign_in_links HTTP/1.1", announced), 401, "invalid_credential");
  });
});

describe("rejects a body that is too large before reading it", () => {
  it("by its Content-Length", async () => {
    expectProblem(await post(["Content-Length: 999999999999"]), 413, "body_too_large");
  });

  it("by the size of its chunks", async () => {
    const size = 2 * 1024 * 1024;
    const chunks = Buffer.concat([Buffer.from(`${size.toString(16)}\r\n`), Buffer.alloc(size, "a")]);
    expectProblem(await post(["Transfer-Encoding: chunked"], chunks), 413, "body_too_large");
  });
});

describe("the API port", () => {
  it("grants nothing to a page of another origin", async () => {
    const headers = ["Origin: https://attacker.example", "Access-Control-Request-Method: POST"];
    const preflight = await send("OPTIONS /v1/customers HTTP/1.1", headers);
    expect(preflight.status).toBe(204);
    const { headers: redirected } = await send("GET /v1/me HTTP/1.1", headers);
    for (const name of [...Object.keys(preflight.headers), ...Object.keys(redirected)]) {
      expect(name).not.toMatch(/^access-control/);
    }
  });

  it("rejects an upgrade to a WebSocket on other paths", async () => {
    const response = await send("GET /v1/me HTTP/1.1", ["Connection: Upgrade", "Upgrade: websocket"]);
    expectProblem(response, 404, "not_found");
  });

  it.each(["h2c", "TLS/1.3"])("ignores an offer of %s", async (protocol) => {
    const { status, body } = await send("GET /v1/me HTTP/1.1", ["Connection: Upgrade", `Upgrade: ${protocol}`]);
    expect([status, JSON.parse(body).object]).toEqual([200, "identity"]);
  });

  it("does not act as a proxy for another host", async () => {
    const line = "CONNECT attacker.example:443 HTTP/1.1\r\nHost: attacker.example:443\r\n\r\n";
    expectProblem(await sendRaw(platform.baseUrl, line), 400, "invalid_request");
  });

  it("ignores an unknown expectation", async () => {
    const response = await post(["Expect: magic", "Content-Length: 2"], "{}");
    expectProblem(response, 400, "invalid_request");
  });

  it.each(["application/jsonp", "application/json, text/plain", "multipart/form-data; boundary=x", "json"])(
    "rejects a body of the type %s",
    async (type) => {
      const response = await send("POST /v1/customers HTTP/1.1", [`Content-Type: ${type}`, "Content-Length: 2"], "{}");
      expectProblem(response, 415, "unsupported_media_type");
    },
  );
});
