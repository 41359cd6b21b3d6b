import { describe, expect, it, vi } from "vitest";
import { ApiError, NetworkError } from "../../src/client/errors.ts";
import { retryDelay } from "../../src/client/http.ts";
import { clientOf } from "./support/client.ts";
import { hangUp, json, problem, startServer } from "./support/scripted-server.ts";

const GET = { method: "GET", path: "/v1/things" } as const;
const POST = { method: "POST", path: "/v1/things", body: { amount: 1 } } as const;

describe("retries", () => {
  it.each([
    ["500", problem(500, "internal_error")],
    ["502", problem(502, "unavailable")],
    ["503", problem(503, "unavailable")],
    ["429", problem(429, "rate_limited")],
    ["a lost connection", hangUp],
    ["409 idempotency_in_flight", problem(409, "idempotency_in_flight")],
  ])("happen after %s", async (_name, failure) => {
    const server = await startServer(failure, failure, json(200, { ok: true }));
    await expect(clientOf(server.url).request(POST)).resolves.toMatchObject({ body: { ok: true } });
    expect(server.requests).toHaveLength(3);
  });

  it("keep the Idempotency-Key, so that a repeated create creates once", async () => {
    const server = await startServer(hangUp, problem(503, "unavailable"), json(201, {}));
    await clientOf(server.url).request(POST);
    expect(server.requests.map(({ headers }) => headers["idempotency-key"])).toEqual(["key-1", "key-1", "key-1"]);
    expect(server.requests.map(({ body }) => body)).toEqual(Array(3).fill('{"amount":1}'));
  });

  it("stop after three attempts with the last failure", async () => {
    const server = await startServer(problem(429, "rate_limited"));
    await expect(clientOf(server.url).request(GET)).rejects.toMatchObject({ status: 429, attempts: 4 });
    expect(server.requests).toHaveLength(4);
  });

  it("are each reported", async () => {
    const server = await startServer(problem(503, "unavailable"), json(200, {}));
    const onRetry = vi.fn();
    await clientOf(server.url, { onRetry }).request(GET);
    expect(onRetry.mock.calls).toEqual([[{ reason: "It is unavailable.", milliseconds: 0 }]]);
  });

  it.each([
    ["400", problem(400, "invalid_request")],
    ["401", problem(401, "invalid_credential")],
    ["403", problem(403, "insufficient_scope")],
    ["404", problem(404, "not_found")],
    ["409 email_taken", problem(409, "email_taken")],
    ["422", problem(422, "idempotency_key_reused")],
  ])("do not happen after %s", async (_name, failure) => {
    const server = await startServer(failure, json(200, {}));
    await expect(clientOf(server.url).request(POST)).rejects.toBeInstanceOf(ApiError);
    expect(server.requests).toHaveLength(1);
  });
});

describe("the wait before a retry", () => {
  const failure = (status: number, retryAfter?: number) =>
    new ApiError(
      {
        type: "",
        title: "",
        status,
        detail: "",
        code: status === 429 ? "rate_limited" : "unavailable",
        request_id: "",
      },
      1,
      retryAfter,
    );

  it("is random up to a limit that doubles", () => {
    expect([1, 2, 3].map((attempts) => retryDelay(failure(503), attempts, () => 0.999_999))).toEqual([
      expect.closeTo(250, 1),
      expect.closeTo(500, 1),
      expect.closeTo(1000, 1),
    ]);
    expect(retryDelay(failure(503), 3, () => 0)).toBe(0);
  });

  it("is never less than Retry-After", () => {
    expect(retryDelay(failure(429, 7), 1, () => 0)).toBe(7000);
    expect(retryDelay(failure(503, 7), 1, () => 0.5)).toBe(7125);
  });

  it("is not taken if Retry-After is unreasonably long", () => {
    expect(retryDelay(failure(429, 61), 1, () => 0)).toBeUndefined();
  });

  it("follows Retry-After of the response", async () => {
    const server = await startServer(problem(429, "rate_limited", { "retry-after": "3600" }));
    await expect(clientOf(server.url).request(GET)).rejects.toMatchObject({ retryAfter: 3600, attempts: 1 });
  });

  it("follows temporary network failures only", () => {
    const network = (passing: boolean) => new NetworkError("refused", "", "", { passing });
    expect(retryDelay(network(true), 1, () => 0)).toBe(0);
    expect(retryDelay(network(false), 1, () => 0)).toBeUndefined();
  });
});

describe("an interruption", () => {
  it("ends a request in flight, with its reason", async () => {
    const controller = new AbortController();
    const server = await startServer(() => controller.abort(new Error("enough")));
    await expect(clientOf(server.url, { signal: controller.signal }).request(GET)).rejects.toThrow("enough");
  });

  it("ends the wait between attempts", async () => {
    const controller = new AbortController();
    const server = await startServer(problem(429, "rate_limited", { "retry-after": "25" }));
    const client = clientOf(server.url, {
      signal: controller.signal,
      onRetry: () => setImmediate(() => controller.abort(new Error("enough"))),
    });
    await expect(client.request(GET)).rejects.toThrow("enough");
  });

  it("prevents later requests", async () => {
    const server = await startServer(json(200, {}));
    const signal = AbortSignal.abort(new Error("before"));
    await expect(clientOf(server.url, { signal }).request(GET)).rejects.toThrow("before");
    expect(server.requests).toEqual([]);
  });
});
