import { describe, expect, it } from "vitest";
import { ApiError } from "../../src/client/errors.ts";
import { apiPath } from "../../src/client/base-url.ts";
import { LATEST_VERSION } from "../../src/contract/versions.ts";
import { CUSTOMER } from "../support/api-objects.ts";
import { clientOf } from "./support/client.ts";
import { json, problem, startServer } from "./support/scripted-server.ts";

describe("a request", () => {
  it("carries the credential, the version and an agent", async () => {
    const server = await startServer(json(200, { id: "cus_1" }));
    const response = await clientOf(server.url).request({ method: "GET", path: "/v1/things/cus_1" });
    expect(response).toMatchObject({ status: 200, requestId: "req_1", body: { id: "cus_1" } });
    expect(server.requests[0]).toMatchObject({ method: "GET", url: "/v1/things/cus_1", body: "" });
    expect(server.requests[0]!.headers).toMatchObject({
      authorization: "Bearer sk_sandbox_test",
      "service-version": LATEST_VERSION,
      "user-agent": "test",
    });
    expect(server.requests[0]!.headers).not.toHaveProperty("idempotency-key");
  });

  it("has a new idempotency key for each POST, unless the caller passes a key", async () => {
    const server = await startServer(json(201, {}));
    const client = clientOf(server.url);
    await client.request({ method: "POST", path: "/v1/things", body: { amount: 1 } });
    await client.request({ method: "POST", path: "/v1/things", body: { amount: 1 } });
    await client.request({ method: "POST", path: "/v1/things", body: { amount: 1 }, idempotencyKey: "mine" });
    expect(server.requests.map(({ headers }) => headers["idempotency-key"])).toEqual(["key-1", "key-2", "mine"]);
    expect(server.requests[0]).toMatchObject({ body: '{"amount":1}', headers: { "content-type": "application/json" } });
  });

  it("sends text unchanged", async () => {
    const server = await startServer(json(201, {}));
    await clientOf(server.url).request({ method: "POST", path: "/v1/things", body: '{ "amount": 1.0 }' });
    expect(server.requests[0]!.body).toBe('{ "amount": 1.0 }');
  });

  it.each([
    ["", "/v1/things"],
    ["/", "/v1/things"],
    ["/platform", "/platform/v1/things"],
    ["/platform/", "/platform/v1/things"],
  ])("keeps the path %j of the base URL", async (path, expected) => {
    const server = await startServer(json(200, {}));
    await clientOf(server.url + path).request({ method: "GET", path: "/v1/things" });
    expect(server.requests[0]!.url).toBe(expected);
  });

  it("adds the given query, without undefined values", async () => {
    const server = await startServer(json(200, {}));
    const query = { email: "a+b@example.com", limit: 5, cursor: undefined };
    await clientOf(server.url).request({ method: "GET", path: "/v1/things?x=1", query });
    expect(server.requests[0]!.url).toBe("/v1/things?x=1&email=a%2Bb%40example.com&limit=5");
  });

  it("does not follow a redirect: the credential is for one origin", async () => {
    const trap = await startServer(json(200, {}));
    const server = await startServer((_request, response) =>
      response
        .writeHead(302, { location: `${trap.url}/v1/things`, "content-type": "text/html" })
        .end("<html>moved</html>"),
    );
    await expect(clientOf(server.url).request({ method: "GET", path: "/v1/things" })).rejects.toMatchObject({
      failure: "not_the_platform",
    });
    expect(trap.requests).toEqual([]);
  });

  it("reuses a connection for several requests", async () => {
    const ports = new Set<number | undefined>();
    const server = await startServer((request, response) => {
      ports.add(response.socket?.remotePort);
      json(200, {})(request, response);
    });
    const client = clientOf(server.url);
    for (let i = 0; i < 3; i++) await client.request({ method: "GET", path: "/v1/things" });
    expect(ports.size).toBe(1);
  });
});

describe("an error response", () => {
  it("becomes the problem that the platform described", async () => {
    const body = {
      type: "https://example.com/errors/invalid_request",
      title: "Invalid request",
      status: 400,
      detail: "email: is missing",
      code: "invalid_request",
      request_id: "req_7",
      errors: [{ pointer: "/email", code: "required", detail: "is missing" }],
    };
    const server = await startServer(json(400, body));
    const error = await clientOf(server.url)
      .request({ method: "POST", path: "/v1/customers", body: {} })
      .catch((e: unknown) => e);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({
      problem: body,
      status: 400,
      code: "invalid_request",
      requestId: "req_7",
      attempts: 1,
    });
  });

  it("is understood without problem details, for example from a proxy", async () => {
    const server = await startServer(json(418, { oops: true }, { "request-id": "" }));
    await expect(clientOf(server.url).request({ method: "GET", path: "/" })).rejects.toMatchObject({
      status: 418,
      message: "The platform returned 418 without an explanation",
    });
  });

  it("keeps the HTTP status if the problem details contradict it", async () => {
    const server = await startServer((request, response) => {
      response.statusCode = 403;
      json(403, { status: 200, detail: "no", code: "insufficient_scope", request_id: "r" })(request, response);
    });
    await expect(clientOf(server.url).request({ method: "GET", path: "/" })).rejects.toMatchObject({ status: 403 });
  });

  it("lists field errors only if there are any", async () => {
    const server = await startServer(problem(404, "not_found"));
    await expect(clientOf(server.url).request({ method: "GET", path: "/" })).rejects.toMatchObject({ errors: [] });
  });
});

describe("a response of an earlier platform", () => {
  const { phone: _added, ...earlier } = CUSTOMER;
  const get = async (body: object) =>
    await clientOf((await startServer(json(200, body))).url).request({ method: "GET", path: "/v1/customers/cus_1" });

  it("has null for a missing nullable field", async () => {
    expect((await get(earlier)).body).toEqual({ ...earlier, phone: null });
  });

  it("is rejected if a field that is never null is missing", async () => {
    const { email: _missing, ...incomplete } = CUSTOMER;
    await expect(get(incomplete)).rejects.toThrow("The response of GET /v1/customers/cus_1 has no string at email");
  });
});

describe("apiPath", () => {
  it.each([
    ["cus_1", "/v1/customers/cus_1/x"],
    ["a/b?c#d", "/v1/customers/a%2Fb%3Fc%23d/x"],
    ["..", "/v1/customers/%20/x"],
    ["", "/v1/customers/%20/x"],
  ])("keeps %j inside its segment", (id, expected) => {
    const path = apiPath`/v1/customers/${id}/x`;
    expect(path).toBe(expected);
    expect(new URL(path, "http://127.0.0.1").pathname).toBe(expected);
  });
});
