import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { verify } from "../../../src/webhooks/index.ts";
import { receiverOnPlatform } from "./support/receiver-on-platform.ts";
import { startScriptedReceiver } from "./support/scripted-receiver.ts";
import { advanceClock } from "../../support/advance-clock.ts";

const SECRET = /^whsec_[0-9A-Za-z_-]{43}$/;

const on = receiverOnPlatform();
const { api } = on;

const create = (body: object) => api("POST", "/v1/webhook_endpoints", body);
const good = { url: "https://hooks.example.com/in", events: ["order.completed"] };

describe("a secret's rotation", () => {
  /** Returns the signatures of the next ping, checked with each secret. */
  async function signedBy(id: string, path: string, secrets: string[]): Promise<boolean[]> {
    const count = on.receiver.at(path).length;
    await api("POST", `/v1/webhook_endpoints/${id}/ping`);
    await on.receiver.until(count + 1, path);
    const { body: payload, headers } = on.receiver.at(path).at(-1)!;
    const signatures = String(headers["service-signature"]).match(/v1=/g) ?? [];
    const verified = secrets.map((secret) => {
      try {
        verify({ payload, header: headers["service-signature"], secrets: secret });
        return true;
      } catch {
        return false;
      }
    });
    expect(signatures).toHaveLength(verified.filter(Boolean).length);
    return verified;
  }

  it("signs with both until the overlap ends", async () => {
    const path = "/rotated";
    const { id, secret: first } = (await create({ url: on.receiver.url + path, events: ["*"] })).body;
    expect(await signedBy(id, path, [first])).toEqual([true]);

    const rotated = await api("POST", `/v1/webhook_endpoints/${id}/rotate_secret`, { overlap_seconds: 60 });
    expect(rotated.status).toBe(200);
    const second = rotated.body.secret;
    expect(second).toMatch(SECRET);
    expect(second).not.toBe(first);
    expect(await signedBy(id, path, [first, second])).toEqual([true, true]);

    await advanceClock(api, 61);
    expect(await signedBy(id, path, [first, second])).toEqual([false, true]);

    const third = (await api("POST", `/v1/webhook_endpoints/${id}/rotate_secret`, { overlap_seconds: 0 })).body.secret;
    expect(await signedBy(id, path, [first, second, third])).toEqual([false, false, true]);
  });

  it("overlaps for a day by default, and reports the secret's age", async () => {
    const path = "/day";
    const created = (await create({ url: on.receiver.url + path, events: ["*"] })).body;
    await advanceClock(api, 3600);
    const rotated = (await api("POST", `/v1/webhook_endpoints/${created.id}/rotate_secret`)).body;
    expect(rotated.created).toBe(created.created);
    expect(Date.parse(rotated.secret_created) - Date.parse(created.secret_created)).toBeGreaterThanOrEqual(3_600_000);
    await advanceClock(api, 86_000);
    expect(await signedBy(created.id, path, [created.secret, rotated.secret])).toEqual([true, true]);
    await advanceClock(api, 500);
    expect(await signedBy(created.id, path, [created.secret, rotated.secret])).toEqual([false, true]);
  });

  it.each([-1, 604_801, 1.5, "60", null])("rejects an overlap of %j", async (overlap) => {
    const { id } = (await create(good)).body;
    const response = await api("POST", `/v1/webhook_endpoints/${id}/rotate_secret`, { overlap_seconds: overlap });
    expect(response.status).toBe(400);
  });
});

describe("an endpoint's headers", () => {
  const VALUE = "Bearer 3f1d0c-secret";
  const endpointAt = async (path: string, headers: object) =>
    (await create({ url: on.receiver.url + path, events: ["*"], headers })).body;

  it("are sent with every attempt, retries included, and shown by name only", async () => {
    const failing = await startScriptedReceiver((_request, response) => void response.writeHead(500).end());
    const headers = { Authorization: VALUE, "X-Tenant": "a  b" };
    const shown = (await create({ url: failing.url, events: ["*"], headers })).body;
    expect(shown.header_names).toEqual(["Authorization", "X-Tenant"]);
    expect(JSON.stringify(shown)).not.toContain(VALUE);
    await api("POST", `/v1/webhook_endpoints/${shown.id}/ping`);
    await advanceClock(api, 60);
    await failing.until(2);
    for (const { headers: sent } of failing.received) {
      expect(sent).toMatchObject({ authorization: VALUE, "x-tenant": "a  b", "service-event-id": expect.any(String) });
    }
    const [{ id }] = (await api("GET", `/v1/deliveries?endpoint=${shown.id}`)).body.data;
    const { attempts } = (await api("GET", `/v1/deliveries/${id}`)).body;
    for (const { request_headers: sent } of attempts) {
      expect(sent).toMatchObject({ Authorization: "…", "X-Tenant": "…", "Content-Type": "application/json" });
    }
    await failing.close();
  });

  it("are merged by an update: null or an empty text removes one, null for all removes all", async () => {
    const path = "/changed-headers";
    const { id } = await endpointAt(path, { "X-A": "1", "X-B": "2", "X-C": "3" });
    const change = async (headers: unknown) => (await api("PATCH", `/v1/webhook_endpoints/${id}`, { headers })).body;
    expect((await change({ "x-a": "new", "X-B": null, "X-C": "", "X-D": "4" })).header_names).toEqual(["x-a", "X-D"]);
    await api("POST", `/v1/webhook_endpoints/${id}/ping`);
    await on.receiver.until(1, path);
    const [{ headers } = { headers: {} }] = on.receiver.at(path);
    expect(headers).toMatchObject({ "x-a": "new", "x-d": "4" });
    expect(headers).not.toHaveProperty("x-b");
    expect((await api("PATCH", `/v1/webhook_endpoints/${id}`, { description: "x" })).body.header_names).toHaveLength(2);
    expect((await change(null)).header_names).toEqual([]);
  });

  it.each([
    "Service-Signature",
    "service-anything",
    "Content-Type",
    "content-length",
    "Host",
    "Connection",
    "User-Agent",
    "Transfer-Encoding",
    "Proxy-Authorization",
    "TE",
    "Upgrade",
    "traceparent",
  ])("cannot be the reserved %s", async (name) => {
    const { status, body } = await create({ ...good, headers: { "X-Good": "1", [name]: "1" } });
    expect(status).toBe(400);
    expect(body.errors).toEqual([
      { pointer: `/headers/${name}`, code: "reserved", detail: "is set by the delivery or its connection: remove it" },
    ]);
  });

  it.each([
    ["a name with a space", { "X A": "1" }, "/headers/X A", "invalid_format"],
    ["a name with a colon", { "X:A": "1" }, "/headers/X:A", "invalid_format"],
    ["an empty name", { "": "1" }, "/headers/", "invalid_key"],
    ["a long name", { ["x".repeat(129)]: "1" }, `/headers/${"x".repeat(100)}…`, "invalid_key"],
    ["a repeated name", { "X-A": "1", "x-a": "2" }, "/headers/x-a", "duplicate"],
    ["a value that begins with a space", { "X-A": " a" }, "/headers/X-A", "invalid_format"],
    ["a value beyond ASCII", { "X-A": "é" }, "/headers/X-A", "invalid_format"],
    ["a long value", { "X-A": "a".repeat(4097) }, "/headers/X-A", "too_long"],
    ["a number", { "X-A": 1 }, "/headers/X-A", "wrong_type"],
    ["eleven", Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`X-${i}`, "1"])), "/headers", "too_many"],
  ])("cannot have %s", async (_what, headers, pointer, code) => {
    const { status, body } = await create({ ...good, headers });
    expect(status).toBe(400);
    expect(body.errors).toMatchObject([{ pointer, code }]);
  });

  it.each(["\r\nX-B: 1", "\0", "\u007f"])("cannot have the control characters %j", async (text) => {
    expect((await create({ ...good, headers: { "X-A": `1${text}` } })).status).toBe(400);
    expect((await create({ ...good, headers: { [`X-A${text}`]: "1" } })).status).toBe(400);
  });

  it("are limited to ten with values of 4,096 characters, even after an update", async () => {
    const ten = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`X-${index}`, "a".repeat(4096)]));
    const { id, header_names: names } = await endpointAt("/ten", ten);
    expect(names).toHaveLength(10);
    const { status, body } = await api("PATCH", `/v1/webhook_endpoints/${id}`, { headers: { "X-10": "1" } });
    expect(status).toBe(400);
    expect(body.errors).toMatchObject([{ pointer: "/headers", code: "too_many" }]);
    const swapped = await api("PATCH", `/v1/webhook_endpoints/${id}`, { headers: { "X-10": "1", "X-0": null } });
    expect(swapped.body.header_names).toHaveLength(10);
  });

  it("are in neither the database nor the request log in plain text", async () => {
    const secret = "unguessable-header-value";
    const { id } = await endpointAt("/sealed", { "X-Secret": secret });
    await api("PATCH", `/v1/webhook_endpoints/${id}`, { headers: { "X-Other": secret } });
    await api("PATCH", `/v1/webhook_endpoints/${id}`, { headers: { "X-Other": secret }, description: 1 });
    await api("PATCH", `/v1/webhook_endpoints/${id}`, { headers: { "X-Bad Name": secret } });
    await expect.poll(async () => (await api("GET", "/v1/request_logs?method=PATCH&limit=3")).body.data.length).toBe(3);
    const { data } = (await api("GET", "/v1/request_logs?limit=5")).body;
    const details = await Promise.all(
      data.map(async (one: { id: string }) => (await api("GET", `/v1/request_logs/${one.id}`)).body),
    );
    expect(JSON.stringify(details)).toContain("X-Other");
    expect(JSON.stringify(details)).not.toContain(secret);
    const files = ["", "-wal"].map((suffix) => readFileSync(on.platform.database + suffix));
    for (const file of files) expect(file.includes(secret)).toBe(false);
  });
});
