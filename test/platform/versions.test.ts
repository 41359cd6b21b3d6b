import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { API_VERSIONS, type ApiVersion, LATEST_VERSION } from "../../src/contract/versions.ts";
import { type HostedPlatform, hostPlatform } from "./delivery/support/hosted-platform.ts";
import { listenTo } from "./delivery/support/listen-socket.ts";
import { apiOf } from "../support/api.ts";
import { type ScriptedReceiver, startScriptedReceiver } from "./delivery/support/scripted-receiver.ts";

type Json = Readonly<Record<string, unknown>>;

/** Renames a member of the object if it exists. */
function renamed(object: Json, from: string, to: string): Json {
  const { [from]: value, ...rest } = object;
  return from in object ? { ...rest, [to]: value } : object;
}

/** The field `name` of customers was `full_name` until 2025-06-01, and `email` was `mail` until the newest version. */
const OLDEST: ApiVersion = {
  date: "2024-01-01",
  requests: { createCustomer: (body) => renamed(body, "full_name", "name") },
  objects: { customer: (customer) => renamed(customer, "name", "full_name") },
};
const OLDER: ApiVersion = {
  date: "2025-06-01",
  requests: {
    createCustomer: (body) => renamed(body, "mail", "email"),
    updateCustomer: (body) => renamed(body, "mail", "email"),
  },
  objects: {
    customer: (customer) => renamed(customer, "email", "mail"),
    event: (event) => ({ ...event, api: "dated" }),
  },
};

let platform: HostedPlatform;
let receiver: ScriptedReceiver;
beforeEach(async () => {
  receiver = await startScriptedReceiver();
});
afterEach(async () => {
  await platform.close();
  await receiver.close();
});

/** An account pinned to the oldest version, on an upgraded platform. */
async function hostOldAccount(): Promise<void> {
  platform = await hostPlatform({ versions: [OLDEST] });
  await platform.restart({ versions: [OLDEST, OLDER, ...API_VERSIONS] });
}

/** Returns the status and version of the response to a listen request. */
async function rejectedUpgrade(baseUrl: string, key: string): Promise<unknown[]> {
  const headers = { Authorization: `Bearer ${key}` };
  const socket = new WebSocket(`${baseUrl.replace("http", "ws")}/v1/listen`, "service.listen.v1", { headers });
  socket.on("error", () => {});
  const [, response] = (await once(socket, "unexpected-response")) as [unknown, IncomingMessage];
  response.resume();
  return [response.statusCode, response.headers["service-version"]];
}

const under = (version: string) => ({ "Service-Version": version });

describe("an account pinned to an older version", () => {
  beforeEach(hostOldAccount);

  it("sees its pinned and all other versions", async () => {
    const { body, headers } = await platform.api("GET", "/v1/versions");
    expect(body).toEqual({
      object: "list",
      data: ["2024-01-01", "2025-06-01", LATEST_VERSION],
      latest: LATEST_VERSION,
      pinned: "2024-01-01",
    });
    expect(headers.get("service-version")).toBe("2024-01-01");
  });

  it("sends and receives its format: objects, lists, and changes of intermediate versions", async () => {
    const created = await platform.api("POST", "/v1/customers", { mail: "ada@example.com", full_name: "Ada" });
    expect(created.status).toBe(201);
    expect(created.headers.get("service-version")).toBe("2024-01-01");
    expect(created.body).toMatchObject({ object: "customer", mail: "ada@example.com", full_name: "Ada" });
    expect(created.body).not.toHaveProperty("email");
    expect(created.body).not.toHaveProperty("name");
    expect((await platform.api("GET", `/v1/customers/${created.body.id}`)).body).toEqual(created.body);
    const list = (await platform.api("GET", "/v1/customers?limit=1")).body;
    expect(list).toEqual({ object: "list", data: [created.body], has_more: false, next_cursor: null });
    const changed = await platform.api("PATCH", `/v1/customers/${created.body.id}`, { mail: "b@example.com" });
    expect(changed.body).toEqual({ ...created.body, mail: "b@example.com" });
    expect((await platform.api("DELETE", `/v1/customers/${created.body.id}`)).body).toEqual({
      id: created.body.id,
      object: "customer",
      deleted: true,
    });
  });

  it("gets errors for values that are invalid in any version", async () => {
    const { status, body } = await platform.api("POST", "/v1/customers", { mail: "ada@example.com", nam: "Ada" });
    expect([status, body.errors]).toEqual([400, [expect.objectContaining({ pointer: "/nam", code: "unknown_field" })]]);
    for (const wrong of [[], "text", 1]) {
      expect((await platform.api("POST", "/v1/customers", JSON.stringify(wrong))).status).toBe(400);
    }
  });

  it("receives all events in its format, with the same bytes everywhere", async () => {
    await platform.api("POST", "/v1/webhook_endpoints", { url: receiver.url, events: ["customer.*"] });
    const listener = await listenTo(platform.baseUrl, platform.sandboxKey);
    const newest = under(LATEST_VERSION);
    const made = await platform.api("POST", "/v1/customers", { email: "ada@example.com", name: "Ada" }, newest);
    expect(made.body).toMatchObject({ email: "ada@example.com", name: "Ada" });
    await platform.api("PATCH", `/v1/customers/${made.body.id}`, { name: "Grace" }, newest);
    await receiver.until(2);
    await listener.until(2);
    const [created, updated] = receiver.received.map(({ body }) => body).toSorted();
    expect(JSON.parse(created!)).toMatchObject({
      object: "event",
      api: "dated",
      data: { object: { id: made.body.id, mail: "ada@example.com", full_name: "Ada" } },
    });
    const { data } = JSON.parse(updated!) as { data: { object: object; previous: object } };
    expect(data.object).toMatchObject({ mail: "ada@example.com", full_name: "Grace" });
    expect(data.previous).toEqual({ full_name: "Ada" });
    expect(Object.keys(data.object)).not.toContain("name");
    expect(listener.events.map(({ body }) => body)).toEqual([created, updated]);
    await listener.close();
    const { id } = JSON.parse(created!) as { id: string };
    for (const version of ["2024-01-01", "2025-06-01", LATEST_VERSION]) {
      const read = await fetch(`${platform.baseUrl}/v1/events/${id}`, {
        headers: { Authorization: `Bearer ${platform.sandboxKey}`, ...under(version) },
      });
      expect(await read.text()).toBe(created);
    }
  });

  it("receives another version's format for a request with that version", async () => {
    const { id } = (await platform.api("POST", "/v1/customers", { mail: "ada@example.com", full_name: "Ada" })).body;
    const read = async (version: string) =>
      (await platform.api("GET", `/v1/customers/${id}`, undefined, under(version))).body;
    expect(await read("2025-06-01")).toMatchObject({ mail: "ada@example.com", name: "Ada" });
    const newest = await read(LATEST_VERSION);
    expect(newest).toMatchObject({ email: "ada@example.com", name: "Ada" });
    expect(Object.keys(newest).filter((name) => name === "mail" || name === "full_name")).toEqual([]);
    const older = { mail: "bob@example.com", name: "Bob" };
    expect((await platform.api("POST", "/v1/customers", older, under("2025-06-01"))).body).toMatchObject(older);
    const rejected = await platform.api("GET", "/v1/me", undefined, under("2024-06-01"));
    expect(rejected).toMatchObject({
      status: 400,
      body: { code: "unsupported_version", supported: ["2024-01-01", "2025-06-01", LATEST_VERSION] },
    });
  });

  it("receives errors in its version, or the requested one, once it is authenticated", async () => {
    const { body: created } = await platform.api("POST", "/v1/api_keys", {
      scopes: ["customers:read"],
      ip_allowlist: ["127.0.0.0/8"],
    });
    const { body: elsewhere } = await platform.api("POST", "/v1/api_keys", { ip_allowlist: ["203.0.113.7/32"] });
    const versionOf = async (key: string, path: string, headers = {}) => {
      const { status, headers: responseHeaders } = await apiOf(platform.baseUrl, key)("GET", path, undefined, headers);
      return [status, responseHeaders.get("service-version")];
    };
    for (const path of ["/v1/orders", "/v1/events/stream"]) {
      expect(await versionOf(created.key, path)).toEqual([403, "2024-01-01"]);
      expect(await versionOf(created.key, path, under("2025-06-01"))).toEqual([403, "2025-06-01"]);
      expect(await versionOf(created.key, path, under("2025-06-02"))).toEqual([403, "2024-01-01"]);
      expect(await versionOf(elsewhere.key, path)).toEqual([403, "2024-01-01"]);
      expect(await versionOf("sk_sandbox_x", path)).toEqual([401, LATEST_VERSION]);
    }
    expect(await versionOf(created.key, "/v1/customers", under("2025-06-02"))).toEqual([400, "2024-01-01"]);
    const malformed = await platform.api("POST", "/v1/customers", "{");
    expect([malformed.status, malformed.headers.get("service-version")]).toEqual([400, "2024-01-01"]);
    await platform.api("POST", `/v1/api_keys/${created.id}/revoke`);
    expect(await versionOf(created.key, "/v1/customers")).toEqual([401, LATEST_VERSION]);
    expect(await rejectedUpgrade(platform.baseUrl, elsewhere.key)).toEqual([403, "2024-01-01"]);
    expect(await rejectedUpgrade(platform.baseUrl, created.key)).toEqual([401, LATEST_VERSION]);
  });

  it("receives rate limit errors in its version", async () => {
    await platform.restart({ versions: [OLDEST, ...API_VERSIONS], rateLimits: { perSecond: 0.001, burst: 1 } });
    expect((await platform.api("GET", "/v1/me")).status).toBe(200);
    const { status, headers } = await platform.api("GET", "/v1/me");
    expect([status, headers.get("service-version")]).toEqual([429, "2024-01-01"]);
    expect(await rejectedUpgrade(platform.baseUrl, platform.sandboxKey)).toEqual([429, "2024-01-01"]);
  });

  it("receives a stored response in its original format, but treats the same key in another version as another request", async () => {
    const key = { "Idempotency-Key": "k" };
    const body = { mail: "ada@example.com", full_name: "Ada" };
    const first = await platform.api("POST", "/v1/customers", body, key);
    const again = await platform.api("POST", "/v1/customers", body, key);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(again.body).toEqual(first.body);
    const other = await platform.api(
      "POST",
      "/v1/customers",
      { email: "ada@example.com", name: "Ada" },
      {
        ...key,
        ...under(LATEST_VERSION),
      },
    );
    expect(other).toMatchObject({ status: 422, body: { code: "idempotency_key_reused" } });
    const order = { amount: 1, currency: "EUR" };
    expect((await platform.api("POST", "/v1/orders", order, key)).status).toBe(201);
    const sameBody = await platform.api("POST", "/v1/orders", order, { ...key, ...under("2025-06-01") });
    expect(sameBody).toMatchObject({ status: 422, body: { code: "idempotency_key_reused" } });
  });
});

describe("an account pinned to the newest version", () => {
  it("receives older formats for requests with an older version, and the newest format in its events", async () => {
    platform = await hostPlatform({ versions: [OLDEST, OLDER, ...API_VERSIONS] });
    const body = { mail: "ada@example.com", full_name: "Ada" };
    const created = await platform.api("POST", "/v1/customers", body, under("2024-01-01"));
    expect(created.body).toMatchObject(body);
    const [event] = (await platform.api("GET", "/v1/events", undefined, under("2024-01-01"))).body.data;
    expect(event.data.object).toMatchObject({ email: "ada@example.com", name: "Ada" });
    expect(event).not.toHaveProperty("api");
    expect((await platform.api("GET", "/v1/versions")).body.pinned).toBe(LATEST_VERSION);
  });
});
