import { readFileSync } from "node:fs";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { checkEndpointUrl } from "../../../src/platform/domain/endpoint-target.ts";
import { type HostedPlatform, hostedPlatform, hostPlatform } from "./support/hosted-platform.ts";
import { type ScriptedReceiver, startScriptedReceiver } from "./support/scripted-receiver.ts";
import { LOOPBACK_SPELLINGS, OTHER_BLOCKED } from "./support/spellings.ts";

const SECRET = /^whsec_[0-9A-Za-z_-]{43}$/;

const platform = hostedPlatform();
let strict: HostedPlatform;
let receiver: ScriptedReceiver;

beforeAll(async () => {
  strict = await hostPlatform({ allowPrivateTargets: false });
  receiver = await startScriptedReceiver();
});
afterAll(async () => {
  await strict.close();
  await receiver.close();
});

// An environment may have 100 of them.
afterEach(async () => {
  const { data } = (await platform.api("GET", "/v1/webhook_endpoints?limit=100")).body;
  await Promise.all(data.map(({ id }: { id: string }) => platform.api("DELETE", `/v1/webhook_endpoints/${id}`)));
});

const create = (body: object, api = platform.api) => api("POST", "/v1/webhook_endpoints", body);
const good = { url: "https://hooks.example.com/in", events: ["order.completed"] };

describe("creating an endpoint", () => {
  it("returns it with its secret, which no other response contains", async () => {
    const response = await create({ ...good, description: "orders" });
    expect(response.status).toBe(201);
    expect(response.body).toEqual({
      id: expect.stringMatching(/^we_[0-9A-Za-z]{22}$/),
      object: "webhook_endpoint",
      url: good.url,
      events: ["order.completed"],
      description: "orders",
      header_names: [],
      status: "enabled",
      disabled_reason: null,
      disabled_at: null,
      health: { failing_since: null },
      livemode: false,
      created: expect.stringMatching(/Z$/),
      secret_created: response.body.created,
      previous_secret_until: null,
      secret: expect.stringMatching(SECRET),
    });
    const { secret, ...shown } = response.body;
    const path = `/v1/webhook_endpoints/${shown.id}`;
    expect((await platform.api("GET", path)).body).toEqual(shown);
    expect((await platform.api("PATCH", path, {})).body).toEqual(shown);
    const listed = await platform.api("GET", "/v1/webhook_endpoints");
    expect(listed.body.data).toContainEqual(shown);
    expect(JSON.stringify(listed.body)).not.toContain(secret);
  });

  it("returns the same secret for the same Idempotency-Key", async () => {
    const key = { "Idempotency-Key": "endpoint-1" };
    const first = await platform.api("POST", "/v1/webhook_endpoints", good, key);
    const second = await platform.api("POST", "/v1/webhook_endpoints", good, key);
    expect(second.body).toEqual(first.body);
    expect(second.headers.get("idempotent-replayed")).toBe("true");
  });

  it("accepts wildcards and every exact type", async () => {
    for (const events of [["*"], ["order.*", "customer.created"], ["webhook_endpoint.*"], ["webhook_endpoint.ping"]]) {
      expect((await create({ ...good, events })).body.events).toEqual(events);
    }
  });

  it.each([
    [[], "too_few"],
    [["order.complete"], "invalid_format"],
    [["**"], "invalid_format"],
    [["."], "invalid_format"],
    [["order*"], "invalid_format"],
    [["*.created"], "invalid_format"],
    [["*", "*"], "duplicate"],
    [Array.from({ length: 51 }, () => "*"), "too_many"],
    ["*", "wrong_type"],
  ])("rejects the subscriptions %j", async (events, code) => {
    const response = await create({ ...good, events });
    expect(response.status).toBe(400);
    expect(response.body.errors.map((error: { code: string }) => error.code)).toContain(code);
  });

  it("suggests the intended event type", async () => {
    const { body } = await create({ ...good, events: ["order.complete"] });
    expect(body.errors[0]).toMatchObject({ pointer: "/events/0", detail: expect.stringContaining("order.completed") });
  });

  it.each([
    ["ftp://example.com/", "not_https"],
    ["file:///etc/passwd", "not_https"],
    ["javascript:alert(1)", "invalid_format"],
    ["//example.com/", "invalid_format"],
    ["/hook", "invalid_format"],
    ["example.com", "invalid_format"],
    ["https:example.com", "invalid_format"],
    ["https://", "invalid_format"],
    ["https://exa mple.com/", "invalid_format"],
    ["https://example.com\\hook", "invalid_format"],
    ["https://example.com:70000/", "invalid_format"],
    ["https://example.com:0/", "out_of_range"],
    ["https://ada@example.com/", "has_credentials"],
    ["https://ada:secret@example.com/", "has_credentials"],
    ["https://@example.com/", "has_credentials"],
    ["https://example.com/#part", "has_fragment"],
    ["https://example.com/#", "has_fragment"],
    [`https://example.com/${"x".repeat(3000)}`, "too_long"],
    ["", "invalid_format"],
    [42, "wrong_type"],
  ])("rejects the URL %s", async (url, code) => {
    const response = await create({ ...good, url });
    expect(response.status).toBe(400);
    expect(response.body).toMatchObject({ code: "invalid_request", errors: [{ pointer: "/url", code }] });
  });

  it("accepts a URL of 2,048 characters, and keeps an internationalized host as given", async () => {
    const url = `https://example.com/${"x".repeat(2048 - 20)}`;
    expect(url).toHaveLength(2048);
    for (const accepted of [url, "https://bücher.example/ä?q=ö"]) {
      expect(await create({ ...good, url: accepted })).toMatchObject({ status: 201, body: { url: accepted } });
    }
  });

  it("rejects unknown fields, and control characters in the description", async () => {
    expect((await create({ ...good, secret: "whsec_mine" })).body.errors[0]).toMatchObject({ code: "unknown_field" });
    expect((await create({ ...good, description: "a\u0007b" })).status).toBe(400);
    expect((await create({ ...good, description: "x".repeat(513) })).status).toBe(400);
  });

  it("accepts plain http only in the sandbox of a platform that allows private targets", async () => {
    const url = "http://hooks.example.com/";
    expect((await create({ ...good, url })).status).toBe(201);
    for (const api of [platform.live, strict.api, strict.live]) {
      expect((await create({ ...good, url }, api)).body.errors[0]).toMatchObject({ code: "not_https" });
    }
  });

  it.each([...LOOPBACK_SPELLINGS, ...OTHER_BLOCKED])("rejects https://%s if targets must be public", async (host) => {
    const response = await create({ ...good, url: `https://${host}/` }, strict.api);
    expect(response.body.errors).toEqual([
      { pointer: "/url", code: "blocked_target", detail: expect.stringContaining("--allow-private-targets") },
    ]);
  });

  it("rejects the platform's own URL in any spelling", async () => {
    const { port } = new URL(platform.baseUrl);
    const hosts = ["127.0.0.1", "2130706433", "127.1", "localhost", "localhost.", "a.localhost", "0.0.0.0", "[::1]"];
    for (const host of [...hosts, "[::]", "[::ffff:127.0.0.1]", "127.0.0.2"]) {
      const response = await create({ ...good, url: `http://${host}:${port}/v1/customers` });
      expect(response.body.errors?.[0], host).toMatchObject({ pointer: "/url", code: "own_platform" });
    }
    expect((await create({ ...good, url: `http://127.0.0.1:${Number(port) - 1}/` })).status).toBe(201);
  });

  it("stores no plaintext secret in the database", async () => {
    const { secret } = (await create(good)).body;
    const files = ["", "-wal"].map((suffix) => readFileSync(platform.database + suffix));
    for (const file of files) expect(file.includes(secret.slice(6))).toBe(false);
  });
});

describe("an environment", () => {
  it("sees only its own endpoints", async () => {
    const { id } = (await create(good)).body;
    const path = `/v1/webhook_endpoints/${id}`;
    for (const [method, suffix] of [
      ["GET", ""],
      ["PATCH", ""],
      ["DELETE", ""],
      ["POST", "/ping"],
      ["POST", "/rotate_secret"],
    ] as const) {
      expect((await platform.live(method, path + suffix, method === "PATCH" ? {} : undefined)).status).toBe(404);
    }
    const { data } = (await platform.live("GET", "/v1/webhook_endpoints?limit=100")).body;
    expect(data.map((one: { id: string }) => one.id)).not.toContain(id);
  });

  it("has at most 100 endpoints", async () => {
    const statuses: number[] = [];
    for (let i = 0; i < 101; i++) statuses.push((await create(good, platform.live)).status);
    expect(statuses).toEqual([...Array.from({ length: 100 }, () => 201), 409]);
    expect((await create(good, platform.live)).body.code).toBe("endpoint_limit");
    const { data } = (await platform.live("GET", "/v1/webhook_endpoints?limit=100")).body;
    await platform.live("DELETE", `/v1/webhook_endpoints/${data[0].id}`);
    expect((await create(good, platform.live)).status).toBe(201);
  });
});

it("a URL with Latin-1 characters is accepted by optimized code too", () => {
  const rules = { allowHttp: false, baseUrl: () => platform.baseUrl, blockReason: () => undefined };
  const problems = Array.from({ length: 20_000 }, () => checkEndpointUrl("https://bücher.example/", rules));
  expect(problems.filter((problem) => problem !== undefined)).toEqual([]);
});

describe("updating an endpoint", () => {
  it("changes only the given fields", async () => {
    const { secret, ...before } = (await create({ ...good, description: "old" })).body;
    const path = `/v1/webhook_endpoints/${before.id}`;
    const change = { url: "https://new.example.com/", events: ["*"], status: "disabled" };
    const disabled = { disabled_reason: "user", disabled_at: expect.any(String) };
    expect((await platform.api("PATCH", path, change)).body).toEqual({ ...before, ...change, ...disabled });
    expect((await platform.api("PATCH", path, { description: null })).body).toEqual({
      ...before,
      ...change,
      ...disabled,
      description: null,
    });
    expect(secret).toMatch(SECRET);
  });

  it("validates the new URL like the first", async () => {
    const path = `/v1/webhook_endpoints/${(await create(good, strict.api)).body.id}`;
    for (const url of ["http://example.com/", "https://10.0.0.1/", "https://a:b@example.com/"]) {
      expect((await strict.api("PATCH", path, { url })).status).toBe(400);
    }
    expect((await strict.api("GET", path)).body.url).toBe(good.url);
  });

  it("deletes it only once", async () => {
    const { id } = (await create(good)).body;
    const path = `/v1/webhook_endpoints/${id}`;
    expect((await platform.api("DELETE", path)).body).toEqual({ id, object: "webhook_endpoint", deleted: true });
    expect((await platform.api("DELETE", path)).status).toBe(404);
    expect((await platform.api("GET", path)).status).toBe(404);
    expect((await platform.api("POST", `${path}/ping`)).status).toBe(404);
  });

  it("explains an invalid ID", async () => {
    const { detail } = (await platform.api("GET", "/v1/webhook_endpoints/we_nonsense")).body;
    expect(detail).toContain("we_");
  });
});
