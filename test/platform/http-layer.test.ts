import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { API_VERSIONS } from "../../src/contract/versions.ts";
import { Versions } from "../../src/platform/domain/versions.ts";
import { rejectBrokenRequest } from "../../src/platform/http/problem.ts";
import { systemClock } from "../../src/platform/ports.ts";
import { apiOnPlatform } from "../support/api-on-platform.ts";
import { sendRaw } from "../support/raw-http.ts";

const on = apiOnPlatform();
const { api } = on;

const lines = (...parts: string[]) => `${parts.join("\r\n")}\r\n\r\n`;

describe("returns a problem for what the HTTP parser rejects", () => {
  const cases: [name: string, bytes: () => string | Buffer, status: number, code: string][] = [
    ["no Host", () => lines("GET /v1/me HTTP/1.1"), 400, "invalid_header"],
    [
      "Content-Length and Transfer-Encoding",
      () => lines("POST /v1/customers HTTP/1.1", "Host: localhost", "Content-Length: 5", "Transfer-Encoding: chunked"),
      400,
      "invalid_request",
    ],
    [
      "two Content-Length",
      () => lines("POST /v1/customers HTTP/1.1", "Host: localhost", "Content-Length: 5", "Content-Length: 6"),
      400,
      "invalid_request",
    ],
    [
      "negative Content-Length",
      () => lines("POST /v1/customers HTTP/1.1", "Host: localhost", "Content-Length: -5"),
      400,
      "invalid_request",
    ],
    [
      "20 KB of headers",
      () => lines("GET /v1/me HTTP/1.1", "Host: localhost", `X-Long: ${"a".repeat(20_000)}`),
      431,
      "headers_too_large",
    ],
    ["a URL of 9 KB", () => lines(`GET /v1/me?${"a".repeat(9000)} HTTP/1.1`, "Host: localhost"), 414, "uri_too_long"],
    ["a TLS hello", () => Buffer.from("160301020001000001fc0303", "hex"), 400, "invalid_request"],
    ["an unknown method", () => lines("FETCH /v1/me HTTP/1.1", "Host: localhost"), 400, "invalid_request"],
    ["TRACE", () => lines("TRACE /v1/me HTTP/1.1", "Host: localhost"), 405, "method_not_allowed"],
    [
      "two Authorization headers",
      () => lines("GET /v1/me HTTP/1.1", "Host: localhost", "Authorization: Bearer a", "Authorization: Bearer b"),
      400,
      "invalid_header",
    ],
  ];

  it.each(cases)("%s", async (_name, bytes, status, code) => {
    const response = await sendRaw(on.platform.baseUrl, bytes());
    expect(response.status).toBe(status);
    expect(response.headers["content-type"]).toMatch(/^application\/problem\+json/);
    expect(JSON.parse(response.body)).toMatchObject({ status, code, request_id: response.headers["request-id"] });
    expect(response.headers["service-version"]).toMatch(/^\d{4}-\d{2}-\d{2}$/);
  });

  it("a request that never completes", async () => {
    const tools = {
      versions: new Versions(API_VERSIONS),
      rateLimit: undefined,
      baseUrl: () => "http://api.test",
      clock: systemClock,
    };
    const server = createServer({ requestTimeout: 100, connectionsCheckingInterval: 20 }, () => {});
    server.on("clientError", (error, socket) =>
      rejectBrokenRequest(error as NodeJS.ErrnoException, socket as Socket, tools, "req_4Vf8aTqz0bKm2sNw9XyRcd"),
    );
    await once(server.listen(0, "127.0.0.1"), "listening");
    const { port } = server.address() as AddressInfo;
    const response = await sendRaw(`http://127.0.0.1:${port}`, "POST /v1/customers HTTP/1.1\r\nHost: localhost\r\n");
    server.close();
    expect(response.status).toBe(408);
    expect(response.headers["content-type"]).toBe("application/problem+json");
    expect(JSON.parse(response.body)).toMatchObject({
      type: "http://api.test/problems/request_timeout",
      status: 408,
      code: "request_timeout",
      request_id: "req_4Vf8aTqz0bKm2sNw9XyRcd",
    });
  });

  it("suggests http:// to a client that uses TLS", async () => {
    const response = await sendRaw(on.platform.baseUrl, Buffer.from("160301020001000001fc0303", "hex"));
    expect(response.body).toContain("use http://");
  });
});

describe("paths and methods", () => {
  it("returns 405 with Allow on a known path", async () => {
    const response = await api("PUT", "/v1/customers", {});
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("GET, HEAD, OPTIONS, POST");
    expect(response.body.code).toBe("method_not_allowed");
  });

  it("suggests the nearest path for an unknown one", async () => {
    const response = await api("GET", "/v1/custmers");
    expect(response.status).toBe(404);
    expect(response.body.detail).toContain("/v1/customers");
  });

  it.each(["/v1/customers/%zz"])("rejects a malformed escape in %s", async (path) => {
    const response = await api("GET", path);
    expect(response.status).toBe(400);
    expect(response.body.code).toBe("invalid_request");
    expect(response.headers.get("service-version")).toMatch(/^\d{4}-/);
    expect(response.headers.get("cache-control")).toBe("no-store");
  });

  it.each(["/v1/customers/cus%00_1", "/v1/customers/..%2fevents", `/v1/customers/cus_${"9".repeat(400)}`])(
    "returns 404 for the ID in %s",
    async (path) => {
      const response = await api("GET", path);
      expect(response.status).toBe(404);
      expect(response.body.detail).toContain("cus_ and 22 letters or digits");
    },
  );

  it("reports the kind of an ID of another kind", async () => {
    const event = (await api("POST", "/v1/events", { type: "order.created", data: { id: "x" } })).body;
    const response = await api("GET", `/v1/customers/${event.id}`);
    expect(response.status).toBe(404);
    expect(response.body.detail).toContain("This is the ID of an event");
  });

  it("ignores the body of a GET", async () => {
    const response = await sendRaw(
      on.platform.baseUrl,
      `${lines(
        "GET /v1/me HTTP/1.1",
        "Host: localhost",
        `Authorization: Bearer ${on.platform.sandboxKey}`,
        "Content-Type: application/json",
        "Content-Length: 2",
      )}{}`,
    );
    expect(response.status).toBe(200);
  });
});

describe("queries", () => {
  it.each([
    ["limit=1&limit=2", "?limit", "duplicate"],
    ["limit=0", "?limit", "out_of_range"],
    ["limit=-1", "?limit", "out_of_range"],
    ["limit=101", "?limit", "out_of_range"],
    ["limit=1.5", "?limit", "wrong_type"],
    ["limit=ten", "?limit", "wrong_type"],
    ["limit=", "?limit", "wrong_type"],
    ["emial=a", "?emial", "unknown_field"],
    ["__proto__=a", "?__proto__", "unknown_field"],
    ["created_after=2026-02-30T00:00:00Z", "?created_after", "invalid_format"],
    ["created_after=2026-02-03T00:00:00Z&created_before=2026-02-01T00:00:00Z", "?created_after", "out_of_range"],
  ])("rejects %s", async (query, pointer, code) => {
    const response = await api("GET", `/v1/customers?${query}`);
    expect(response.status).toBe(400);
    expect(response.body.errors).toEqual([expect.objectContaining({ pointer, code })]);
  });

  it("rejects a malformed escape and a control character", async () => {
    expect((await api("GET", "/v1/customers?email=%zz")).body.detail).toContain("malformed escape");
    const response = await api("GET", "/v1/customers?email=a%00b");
    expect(response).toMatchObject({ status: 400, body: { detail: expect.stringContaining("control character") } });
  });

  it("suggests the intended parameter", async () => {
    expect((await api("GET", "/v1/customers?emial=a")).body.detail).toContain("did you mean email?");
  });
});

describe("media types", () => {
  it.each([
    ["text/plain", "{}"],
    ["application/x-www-form-urlencoded", "email=a"],
    ["application/xml", "<a/>"],
    ["application/json; charset=utf-16", "{}"],
  ])("rejects %s with 415", async (type, body) => {
    const response = await api("POST", "/v1/customers", body, { "Content-Type": type });
    expect(response.status).toBe(415);
    expect(response.body.code).toBe("unsupported_media_type");
  });

  it("rejects a body without a type", async () => {
    const response = await sendRaw(
      on.platform.baseUrl,
      `${lines(
        "POST /v1/customers HTTP/1.1",
        "Host: localhost",
        `Authorization: Bearer ${on.platform.sandboxKey}`,
        "Content-Length: 2",
      )}{}`,
    );
    expect(response.status).toBe(415);
  });

  it("rejects a compressed body and says what it accepts", async () => {
    const response = await api("POST", "/v1/customers", "{}", { "Content-Encoding": "gzip" });
    expect(response.status).toBe(415);
    expect(response.headers.get("accept-encoding")).toBe("identity");
  });

  it("rejects 2 MB", async () => {
    const response = await api("POST", "/v1/customers", { email: "a@example.com", name: "a".repeat(2_000_000) });
    expect(response.status).toBe(413);
    expect(response.body.code).toBe("body_too_large");
  });
});

it.each(["h2c", "TLS/1.2"])("the server ignores an offer of %s, even with a body", async (protocol) => {
  const offer = `Upgrade: ${protocol}\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABk\r\n`;
  const common = `Host: localhost\r\nAuthorization: Bearer ${on.platform.sandboxKey}\r\n${offer}`;
  const read = await sendRaw(on.platform.baseUrl, `GET /v1/customers HTTP/1.1\r\n${common}\r\n`);
  expect([read.status, JSON.parse(read.body).object]).toEqual([200, "list"]);
  const body = JSON.stringify({ email: `${protocol.replace("/", "-")}@example.com` });
  const json = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
  const created = await sendRaw(on.platform.baseUrl, `POST /v1/customers HTTP/1.1\r\n${common}${json}\r\n${body}`);
  expect([created.status, JSON.parse(created.body).object]).toEqual([201, "customer"]);
});

it("the server keeps responding to other requests while a body never arrives", async () => {
  const { hostname, port } = new URL(on.platform.baseUrl);
  const stuck = connect(Number(port), hostname);
  stuck.write(
    lines(
      "POST /v1/customers HTTP/1.1",
      "Host: localhost",
      `Authorization: Bearer ${on.platform.sandboxKey}`,
      "Content-Type: application/json",
      "Content-Length: 10",
    ),
  );
  expect((await api("GET", "/v1/me")).status).toBe(200);
  stuck.destroy();
});

it("the server adds an ID to every response, and prevents caching and sniffing", async () => {
  const response = await api("GET", "/v1/me");
  expect(response.headers.get("request-id")).toMatch(/^req_[0-9A-Za-z]{22}$/);
  expect(response.headers.get("cache-control")).toBe("no-store");
  expect(response.headers.get("x-content-type-options")).toBe("nosniff");
});
