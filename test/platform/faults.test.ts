import { request as httpRequest } from "node:http";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Api, apiOf } from "../support/api.ts";
import { type ServedPlatform, serveNode, servePlatform, startNode } from "../support/platform.ts";
import { usePostgres } from "../support/postgres.ts";

const ORDER = { amount: 1, currency: "EUR" };

let platform: ServedPlatform;
let api: Api;
let live: Api;
beforeAll(async () => {
  platform = await servePlatform();
  api = apiOf(platform.baseUrl, platform.sandboxKey);
  live = apiOf(platform.baseUrl, platform.liveKey);
});
afterAll(() => platform.stop());
beforeEach(async () => {
  expect((await api("POST", "/v1/sandbox/reset")).status).toBe(200);
});

const add = async (fault: object, of = api) => {
  const { status, body } = await of("POST", "/v1/faults", fault);
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
};
const onOrders = (fault: object) => ({ match: { method: "POST", path: "/v1/orders*" }, ...fault });
const createOrder = (headers = {}, of = api) => of("POST", "/v1/orders", ORDER, headers);
const orders = async (of = api) => (await of("GET", "/v1/orders")).body.data as { id: string }[];
const newestLog = async () => (await api("GET", "/v1/request_logs?method=POST&path=/v1/orders&limit=1")).body.data[0];

describe("a fault", () => {
  it("is returned, listed and removed", async () => {
    const created = await add(onOrders({ effect: "status", status: 503, rate: 0.5, times: 5 }));
    expect(created).toEqual({
      id: expect.stringMatching(/^flt_[0-9A-Za-z]{22}$/),
      object: "fault",
      match: { method: "POST", path: "/v1/orders*" },
      effect: "status",
      status: 503,
      delay_ms: null,
      rate: 0.5,
      times: 5,
      injected: 0,
      livemode: false,
      created: expect.stringMatching(/Z$/),
    });
    const second = await add({ match: { path: "/v1/orders/{id}" }, effect: "delay", delay_ms: 1 });
    expect(second).toMatchObject({ match: { method: null }, rate: 1, times: null });
    expect((await api("GET", "/v1/faults")).body).toEqual({ object: "list", data: [created, second] });
    expect((await api("GET", `/v1/faults/${created.id}`)).body).toEqual(created);
    const deleted = { id: created.id, object: "fault", deleted: true };
    expect((await api("DELETE", `/v1/faults/${created.id}`)).body).toEqual(deleted);
    expect((await api("GET", `/v1/faults/${created.id}`)).status).toBe(404);
    expect((await api("DELETE", "/v1/faults")).body).toEqual({ object: "list", data: [second] });
    expect((await api("GET", "/v1/faults")).body.data).toEqual([]);
  });

  it("is removed by a reset", async () => {
    await add(onOrders({ effect: "status", status: 500 }));
    await api("POST", "/v1/sandbox/reset");
    expect((await api("GET", "/v1/faults")).body.data).toEqual([]);
    expect((await createOrder()).status).toBe(201);
  });

  it.each([
    [429, "rate_limited", "1"],
    [500, "internal_error", null],
    [502, "bad_gateway", null],
    [503, "unavailable", "1"],
  ])("responds %i with problem details, and changes nothing", async (status, code, retryAfter) => {
    const { id } = await add(onOrders({ effect: "status", status }));
    const response = await createOrder();
    expect(response).toMatchObject({ status, body: { status, code, request_id: expect.stringMatching(/^req_/) } });
    expect(response.headers.get("service-fault")).toBe(id);
    expect(response.headers.get("retry-after")).toBe(retryAfter);
    expect(response.headers.get("content-type")).toContain("application/problem+json");
    expect(await orders()).toEqual([]);
    expect(await newestLog()).toMatchObject({ status, error_code: code, fault: { id, effect: "status" } });
    expect((await api("GET", `/v1/faults/${id}`)).body.injected).toBe(1);
  });

  it("delays a request, which takes effect", async () => {
    const { id } = await add(onOrders({ effect: "delay", delay_ms: 300 }));
    const startedAt = performance.now();
    const response = await createOrder();
    expect(response.status).toBe(201);
    expect(response.headers.get("service-fault")).toBe(id);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(295);
    expect(await newestLog()).toMatchObject({ status: 201, fault: { id, effect: "delay" } });
  });

  it("disconnects before a request has an effect", async () => {
    const { id } = await add(onOrders({ effect: "disconnect" }));
    await expect(createOrder()).rejects.toThrow();
    expect(await orders()).toEqual([]);
    expect(await newestLog()).toMatchObject({ status: 503, error_code: null, fault: { id, effect: "disconnect" } });
  });

  it("drops the response to a request that took effect, and a retry with the same Idempotency-Key returns it", async () => {
    const { id } = await add(onOrders({ effect: "lose_response", times: 1 }));
    const key = { "Idempotency-Key": "lost-1" };
    await expect(createOrder(key)).rejects.toThrow();
    const [order] = await orders();
    expect(await newestLog()).toMatchObject({ status: 201, fault: { id, effect: "lose_response" } });
    const retried = await createOrder(key);
    expect(retried).toMatchObject({ status: 201, body: { id: order!.id } });
    expect(retried.headers.get("idempotent-replayed")).toBe("true");
    expect(await orders()).toHaveLength(1);
    const { data: events } = (await api("GET", "/v1/events?type=order.created")).body;
    expect(events).toHaveLength(1);
  });

  it("drops an error response, too", async () => {
    await add(onOrders({ effect: "lose_response" }));
    await expect(api("POST", "/v1/orders", { amount: -1 })).rejects.toThrow();
    expect(await newestLog()).toMatchObject({ status: 400, error_code: "invalid_request" });
  });

  it("truncates a response in the middle of its body", async () => {
    await createOrder();
    const { id } = await add({ match: { method: "GET", path: "/v1/orders" }, effect: "truncate" });
    const received = await new Promise<{ length: number; text: string; fault: unknown }>((resolve, reject) => {
      const headers = { Authorization: `Bearer ${platform.sandboxKey}` };
      const request = httpRequest(`${platform.baseUrl}/v1/orders`, { headers }, (response) => {
        let text = "";
        const length = Number(response.headers["content-length"]);
        response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
        response.on("error", () => {});
        response.on("close", () => resolve({ length, text, fault: response.headers["service-fault"] }));
      });
      request.on("error", reject).end();
    });
    expect(received).toMatchObject({ fault: id, text: expect.stringMatching(/^\{"object":"list"/) });
    expect(received.text).toHaveLength(Math.floor(received.length / 2));
  });

  it("applies to a part of the requests, and the next fault to others", async () => {
    await add(onOrders({ effect: "status", status: 500, rate: 0 }));
    await add(onOrders({ effect: "status", status: 502, rate: 0.5 }));
    await add(onOrders({ effect: "status", status: 503 }));
    const statuses = await Promise.all(Array.from({ length: 60 }, async () => (await createOrder()).status));
    expect(new Set(statuses)).toEqual(new Set([502, 503]));
  });

  it("applies as often as configured, then no more", async () => {
    const { id } = await add(onOrders({ effect: "status", status: 503, times: 3 }));
    const statuses = await Promise.all(Array.from({ length: 20 }, async () => (await createOrder()).status));
    expect(statuses.filter((status) => status === 503)).toHaveLength(3);
    expect(statuses.filter((status) => status === 201)).toHaveLength(17);
    expect((await api("GET", `/v1/faults/${id}`)).body).toMatchObject({ times: 3, injected: 3 });
  });

  it("matches a method and a path: exact, with any ID, or with any ending", async () => {
    const { id: order } = (await createOrder()).body;
    const given = async (match: object) => {
      await api("DELETE", "/v1/faults");
      await add({ match, effect: "status", status: 503 });
      const calls = [
        ["POST", "/v1/orders", ORDER],
        ["GET", "/v1/orders?limit=1"],
        ["GET", `/v1/orders/${order}`],
        ["GET", "/v1/payments"],
      ] as const;
      const statuses: boolean[] = [];
      for (const [method, path, body] of calls) statuses.push((await api(method, path, body)).status === 503);
      return statuses;
    };
    expect(await given({ path: "/v1/orders" })).toEqual([true, true, false, false]);
    expect(await given({ method: "GET", path: "/v1/orders" })).toEqual([false, true, false, false]);
    expect(await given({ path: "/v1/orders/{id}" })).toEqual([false, false, true, false]);
    expect(await given({ path: `/v1/orders/${order}` })).toEqual([false, false, true, false]);
    expect(await given({ method: null, path: "/v1/orders*" })).toEqual([true, true, true, false]);
    expect(await given({ path: "/v1/*" })).toEqual([true, true, true, true]);
  });

  it("never applies to requests for faults or the sandbox, or to another environment", async () => {
    await add({ match: { path: "/v1/*" }, effect: "disconnect" });
    expect((await api("GET", "/v1/faults")).status).toBe(200);
    expect((await api("GET", "/v1/sandbox/snapshots")).status).toBe(200);
    expect((await createOrder({}, live)).status).toBe(201);
    expect((await fetch(`${platform.baseUrl}/healthz`)).status).toBe(200);
    await expect(api("GET", "/v1/me")).rejects.toThrow();
    expect((await api("DELETE", "/v1/faults")).status).toBe(200);
  });

  it.each([
    [{ match: { path: "/v1/order" } }, "/match/path", "no_operation", "did you mean /v1/orders?"],
    [{ match: { path: "/v1/faults*" } }, "/match/path", "no_operation", "matches no operation that can get a fault"],
    [{ match: { path: "/v1/sandbox/reset" } }, "/match/path", "no_operation", "can get a fault"],
    [{ match: { method: "DELETE", path: "/v1/orders*" } }, "/match/method", "no_operation", "POST, GET"],
    [{ match: { path: "/v1/*/complete" } }, "/match/path", "invalid_format", "* only at the end"],
    [{ match: { path: `/v1/orders/${"{id}".repeat(9)}` } }, "/match/path", "invalid_format", "{id} between slashes"],
    [{ match: { path: "orders" } }, "/match/path", "invalid_format", "a path such as"],
    [{ match: { path: "/v1/orders?limit=1" } }, "/match/path", "invalid_format", "no query"],
    [{ match: { path: `/v1/${"a".repeat(200)}` } }, "/match/path", "too_long", "200"],
    [{ match: { method: "PUT", path: "/v1/orders" } }, "/match/method", "not_allowed", "GET, POST, PATCH, DELETE"],
    [{ rate: 1.1 }, "/rate", "out_of_range", "at most 1"],
    [{ rate: -0.1 }, "/rate", "out_of_range", "at least 0"],
    [{ times: 0 }, "/times", "out_of_range", "at least 1"],
    [{ effect: "explode" }, "/effect", "not_allowed", "lose_response"],
    [{ status: 404 }, "/status", "not_allowed", "must be one of 429, 500, 502, 503"],
    [{ status: undefined }, "/status", "required", "for the effect status"],
    [{ effect: "disconnect" }, "/status", "not_allowed", "belongs to the effect status"],
    [{ status: undefined, effect: "delay" }, "/delay_ms", "required", "for the effect delay"],
    [{ status: undefined, effect: "delay", delay_ms: 60_001 }, "/delay_ms", "out_of_range", "at most 60000"],
  ])("cannot have %j", async (changes, pointer, code, detail) => {
    const { status, body } = await api("POST", "/v1/faults", {
      ...onOrders({ effect: "status", status: 503 }),
      ...changes,
    });
    expect(status).toBe(400);
    expect(body.errors).toMatchObject([{ pointer, code, detail: expect.stringContaining(detail) }]);
  });

  it("exists only in the sandbox, for credentials with its scope", async () => {
    const fault = onOrders({ effect: "status", status: 503 });
    expect(await live("POST", "/v1/faults", fault)).toMatchObject({ status: 403, body: { code: "sandbox_only" } });
    const { key } = (await api("POST", "/v1/api_keys", { scopes: ["sandbox:read"] })).body;
    const reader = apiOf(platform.baseUrl, key);
    expect((await reader("GET", "/v1/faults")).status).toBe(200);
    expect(await reader("POST", "/v1/faults", fault)).toMatchObject({
      status: 403,
      body: { code: "insufficient_scope" },
    });
  });

  it("is rejected after 100 others", async () => {
    const fault = { match: { path: "/v1/payments" }, effect: "status", status: 503 };
    const statuses = await Promise.all(
      Array.from({ length: 101 }, async () => (await api("POST", "/v1/faults", fault)).status),
    );
    expect(statuses.filter((status) => status === 409)).toHaveLength(1);
    expect((await api("POST", "/v1/faults", fault)).body.code).toBe("fault_limit");
  });
});

it("a fault applies exactly as often as configured with two processes on PostgreSQL", async () => {
  const server = await usePostgres();
  const database = await server.createDatabase();
  const first = await serveNode(database);
  const second = await startNode(database);
  const [one, other] = [apiOf(first.baseUrl, first.sandboxKey), apiOf(second.baseUrl, first.sandboxKey)];
  const { id } = await add(onOrders({ effect: "status", status: 503, times: 7 }), one);
  const statuses = await Promise.all(
    Array.from({ length: 40 }, async (_, index) => (await createOrder({}, index % 2 === 0 ? one : other)).status),
  );
  expect(statuses.filter((status) => status === 503)).toHaveLength(7);
  expect(statuses.filter((status) => status === 201)).toHaveLength(33);
  expect((await other("GET", `/v1/faults/${id}`)).body.injected).toBe(7);
  await Promise.all([first.stop(), second.stop()]);
  await server.remove();
});
