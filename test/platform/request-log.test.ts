import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { formatCredential } from "../../src/contract/credentials.ts";
import type { RequestLog } from "../../src/contract/schemas/request-log.ts";
import { RequestRecorder } from "../../src/platform/observability/request-recorder.ts";
import type { Caller } from "../../src/platform/domain/request-context.ts";
import { MIGRATIONS } from "../../src/platform/storage/migrations/index.ts";
import { openSqlite } from "../../src/platform/storage/sqlite/open.ts";
import { systemClock, systemRandom } from "../../src/platform/ports.ts";
import { createVault } from "../../src/platform/security/vault.ts";
import { type HostedPlatform, hostPlatform } from "./delivery/support/hosted-platform.ts";
import { listenTo } from "./delivery/support/listen-socket.ts";
import { createMinuteClock, type MinuteClock } from "./delivery/support/minute-clock.ts";
import { advanceClock } from "../support/advance-clock.ts";
import { type Api, apiOf } from "../support/api.ts";
import { createConfigDir } from "../support/run-cli.ts";

const DAY = 86_400;

let clock: MinuteClock;
let platform: HostedPlatform;
beforeAll(async () => {
  clock = createMinuteClock();
  platform = await hostPlatform({ clock, rateLimits: { perSecond: 1_000, burst: 1_000 } });
});
afterAll(() => platform.close());

const logs = async (query = "", api: Api = platform.api): Promise<RequestLog[]> =>
  (await api("GET", `/v1/request_logs?limit=100${query}`)).body.data;

const newKey = async (fields: object = {}): Promise<{ id: string; key: string }> =>
  (await platform.api("POST", "/v1/api_keys", fields)).body;

describe("an API request", () => {
  it("is in the log once its response was received", async () => {
    const { id, key } = await newKey();
    const api = apiOf(platform.baseUrl, key);
    const headers = { "Idempotency-Key": '"first-order"' };
    const response = await api("POST", "/v1/customers?", { email: "ada@example.com" }, headers);
    const [log] = await logs(`&key=${id}`);
    expect(log).toEqual({
      id: response.headers.get("request-id"),
      object: "request_log",
      method: "POST",
      path: "/v1/customers",
      status: 201,
      duration_ms: expect.any(Number),
      key: id,
      user: null,
      idempotency_key: expect.stringMatching(/^[\w-]{16}$/),
      error_code: null,
      fault: null,
      client: null,
      left_out: 0,
      livemode: false,
      created: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
    });
    expect(log!.duration_ms).toBeGreaterThan(0);
    expect(Math.abs(Date.parse(log!.created) - clock.now())).toBeLessThan(60_000);
  });

  it("contains a digest of its Idempotency-Key, which identifies equal keys", async () => {
    const { id, key } = await newKey();
    const api = apiOf(platform.baseUrl, key);
    for (const name of ["order-of-ada@example.com", "order-of-ada@example.com", "another"]) {
      const headers = { "Idempotency-Key": name };
      expect((await api("POST", "/v1/orders", { amount: 1, currency: "EUR" }, headers)).status).toBe(201);
    }
    const found = await logs(`&key=${id}`);
    const [other, repeated, first] = found.map((log) => log.idempotency_key);
    expect([repeated, other]).toEqual([first, expect.not.stringMatching(first!)]);
    expect(JSON.stringify(found)).not.toContain("ada@");
    const detail = (await platform.api("GET", `/v1/request_logs/${found[0]!.id}`)).body;
    expect(detail.request_headers["idempotency-key"]).toBe("…");
    expect(await logs(`&key=${id}&query=order-of-ada@example.com`)).toEqual(found.slice(1));
    const folder = dirname(platform.database);
    const files = readdirSync(folder).map((name) => readFileSync(join(folder, name), "latin1"));
    expect(files.filter((file) => file.includes("order-of-ada@"))).toEqual([]);
  });

  it("is logged with its error code if it is rejected, even if its key may not be used at all", async () => {
    const narrow = await newKey({ scopes: ["customers:read"] });
    const elsewhere = await newKey({ ip_allowlist: ["203.0.113.0/24"] });
    const revoked = await newKey();
    await platform.api("POST", `/v1/api_keys/${revoked.id}/revoke`);
    const codes = async ({ id, key }: { id: string; key: string }, method: string, path: string) => {
      await fetch(platform.baseUrl + path, { method, headers: { Authorization: `Bearer ${key}` } });
      const [log] = await logs(`&key=${id}`);
      return [log!.method, log!.path, log!.status, log!.error_code];
    };
    expect(await codes(narrow, "GET", "/v1/orders")).toEqual(["GET", "/v1/orders", 403, "insufficient_scope"]);
    expect(await codes(narrow, "HEAD", "/v1/customers")).toEqual(["HEAD", "/v1/customers", 200, null]);
    expect(await codes(narrow, "GET", "/v1/customers?nonsense=1")).toEqual([
      "GET",
      "/v1/customers",
      400,
      "invalid_request",
    ]);
    expect(await codes(elsewhere, "GET", "/v1/me")).toEqual(["GET", "/v1/me", 403, "ip_not_allowed"]);
    expect(await codes(revoked, "GET", "/v1/me")).toEqual(["GET", "/v1/me", 401, "revoked_credential"]);
  });

  it("to listen is logged, accepted or not", async () => {
    const { id, key } = await newKey();
    await listenTo(platform.baseUrl, key).then((socket) => socket.close());
    expect(await logs(`&key=${id}`)).toMatchObject([
      { method: "GET", path: "/v1/listen", status: 101, error_code: null },
    ]);
    const other = await newKey({ scopes: ["events:read"] });
    await expect(listenTo(platform.baseUrl, other.key)).rejects.toThrow("403");
    expect(await logs(`&key=${other.id}`)).toMatchObject([
      { path: "/v1/listen", status: 403, error_code: "insufficient_scope" },
    ]);
  });

  it("without a known account is not logged", async () => {
    const before = (await logs()).length;
    for (const key of [undefined, formatCredential("sk_sandbox_", Buffer.alloc(32, 3))]) {
      await apiOf(platform.baseUrl, key)("GET", "/v1/me");
    }
    expect(before).toBeLessThan(100);
    expect((await logs()).length).toBe(before);
  });

  it("for a page of the log is not logged unless it is rejected", async () => {
    const { id, key } = await newKey();
    const api = apiOf(platform.baseUrl, key);
    await api("GET", "/v1/request_logs");
    await api("GET", "/v1/request_logs?status=x");
    expect((await logs(`&key=${id}`)).map(({ path, status }) => [path, status])).toEqual([["/v1/request_logs", 400]]);
  });

  it("is never visible in another environment", async () => {
    const { headers } = await platform.live("GET", "/v1/me");
    const id = headers.get("request-id");
    expect((await logs("", platform.live)).map((log) => [log.id, log.livemode])).toContainEqual([id, true]);
    expect((await logs()).map((log) => log.id)).not.toContain(id);
  });
});

describe("one request", () => {
  const detail = async (id: string | null) => (await platform.api("GET", `/v1/request_logs/${id}`)).body;

  it("shows what was sent and received, and the events that it caused", async () => {
    const order = { amount: 5, currency: "EUR", metadata: { note: "first" } };
    const { headers, body } = await platform.api("POST", "/v1/orders", order, { "X-Trace": "t1" });
    const id = headers.get("request-id");
    const [event] = (await platform.api("GET", `/v1/events?related=${body.id}`)).body.data;
    const shown = await detail(id);
    expect(shown).toMatchObject({
      id,
      object: "request_log",
      method: "POST",
      path: "/v1/orders",
      status: 201,
      client_address: "127.0.0.1",
      query: null,
      request_headers: { "content-type": "application/json", "x-trace": "…", "user-agent": "node" },
      response_headers: { "request-id": id },
      events: [event.id],
    });
    expect([JSON.parse(shown.request_body), JSON.parse(shown.response_body)]).toEqual([order, body]);
    const completed = await platform.api("POST", `/v1/orders/${body.id}/complete`);
    const events = (await platform.api("GET", `/v1/events?related=${body.id}`)).body.data;
    expect((await detail(completed.headers.get("request-id"))).events).toEqual([events[0].id]);
  });

  it("keeps a body that was rejected, cut off at 16,384 characters", async () => {
    const name = "x".repeat(40_000);
    const { headers } = await platform.api("POST", "/v1/customers", { email: "nobody", name });
    const shown = await detail(headers.get("request-id"));
    expect(shown).toMatchObject({ status: 400, events: [] });
    expect(shown.request_body).toBe(JSON.stringify({ email: "nobody", name }).slice(0, 16_384));
    expect(JSON.parse(shown.response_body)).toMatchObject({ code: "invalid_request" });
  });

  it("never contains a secret that its caller used, sent or created", async () => {
    const created = await platform.api("POST", "/v1/api_keys", {}, { "Idempotency-Key": "secret-key-name" });
    const sent = formatCredential("sk_live_", Buffer.alloc(32, 7));
    const named = await platform.api("POST", "/v1/api_keys", { name: sent }, { Cookie: "session=abcdef" });
    const endpoint = await platform.api("POST", "/v1/webhook_endpoints", {
      url: "https://example.com/",
      events: ["*"],
    });
    const secrets = [created.body.key, platform.sandboxKey, sent, endpoint.body.secret, "abcdef"];
    for (const { headers } of [created, named, endpoint]) {
      const shown = await detail(headers.get("request-id"));
      expect(shown.request_headers.authorization).toBe("…");
      expect(secrets.filter((secret) => JSON.stringify(shown).includes(secret))).toEqual([]);
    }
    const folder = dirname(platform.database);
    const files = readdirSync(folder).map((name) => readFileSync(join(folder, name), "latin1"));
    expect(secrets.filter((secret) => files.some((file) => file.includes(secret)))).toEqual([sent]);
  });

  it("shows query and bodies only to a credential with the scope of the operation", async () => {
    const customer = { email: "grace@example.com" };
    const created = await platform.api("POST", "/v1/customers", customer, { "X-Api-Key": "third-party-secret" });
    const listed = await platform.api("GET", "/v1/customers?email=grace@example.com");
    const read = await platform.api("GET", `/v1/customers/${created.body.id}`);
    const seenBy = async (scopes: string[], { headers }: { headers: Headers }) => {
      const api = apiOf(platform.baseUrl, (await newKey({ scopes })).key);
      return (await api("GET", `/v1/request_logs/${headers.get("request-id")}`)).body;
    };
    for (const [request, scope] of [
      [created, "customers:write"],
      [listed, "customers:read"],
      [read, "customers:read"],
    ] as const) {
      const hidden = await seenBy(["request_logs:read", "orders:read"], request);
      expect(hidden).toMatchObject({ missing_scope: scope, query: null, request_body: null, response_body: null });
      expect(JSON.stringify(hidden)).not.toMatch(/grace|third-party-secret/);
      const shown = await seenBy(["request_logs:read", scope], request);
      expect(shown).toMatchObject({ missing_scope: null, response_body: expect.stringContaining("grace") });
      expect(JSON.stringify(shown)).not.toContain("third-party-secret");
    }
  });

  it("is counted instead of logged above 10 responses with 403 per second", async () => {
    const { id, key } = await newKey({ scopes: ["orders:read"] });
    const api = apiOf(platform.baseUrl, key);
    const requests = await Promise.all(Array.from({ length: 100 }, () => api("GET", "/v1/customers")));
    expect(requests.map(({ status }) => status)).toEqual(requests.map(() => 403));
    await api("GET", "/v1/orders");
    const refused = await logs(`&key=${id}&status=403`);
    expect(refused.length).toBeLessThan(100);
    expect(refused.length + refused.reduce((sum, { left_out: count }) => sum + count, 0)).toBe(100);
    expect(await logs(`&key=${id}&status=200`)).toHaveLength(1);
  });

  it("hides a credential that is written with escapes", async () => {
    const sent = formatCredential("sk_live_", Buffer.alloc(32, 9));
    const once = sent.replaceAll("_", "%5F");
    const twice = sent.replaceAll("_", "%255f");
    const { headers } = await platform.api("GET", `/v1/orders?key=${once}&other=${twice}`, undefined, {
      "X-Key": once,
    });
    const escaped = await fetch(`${platform.baseUrl}/v1/customers`, {
      method: "POST",
      headers: { Authorization: `Bearer ${platform.sandboxKey}`, "Content-Type": "application/json" },
      body: `{"name":"${sent.replaceAll("_", String.raw`\u005f`)}"}`,
    });
    for (const id of [headers.get("request-id"), escaped.headers.get("request-id")]) {
      const shown = JSON.stringify(await detail(id));
      expect(shown).toContain("sk_live_…");
      expect(shown).not.toContain(sent.slice(-20));
    }
  });

  it("is found in its own environment only", async () => {
    const { headers } = await platform.live("GET", "/v1/me");
    const id = headers.get("request-id");
    expect((await platform.api("GET", `/v1/request_logs/${id}`)).status).toBe(404);
    expect((await platform.live("GET", `/v1/request_logs/${id}`)).body).toMatchObject({ id, livemode: true });
    expect((await platform.api("GET", "/v1/request_logs/req_none")).status).toBe(404);
  });
});

it("the request log is read with the scope request_logs:read", async () => {
  const without = apiOf(platform.baseUrl, (await newKey({ scopes: ["request_logs:write"] })).key);
  expect(await without("GET", "/v1/request_logs")).toMatchObject({
    status: 403,
    body: { required_scope: "request_logs:read" },
  });
  const having = apiOf(platform.baseUrl, (await newKey({ scopes: ["request_logs:read"] })).key);
  expect((await having("GET", "/v1/request_logs")).status).toBe(200);
});

describe("filters and pages", () => {
  let key: { id: string; key: string };
  let expected: string[];
  beforeAll(async () => {
    key = await newKey();
    const api = apiOf(platform.baseUrl, key.key);
    expected = [];
    const ask = async (method: string, path: string, body?: unknown) => {
      const { status } = await api(method, path, body);
      expected.unshift(`${method} ${path} ${status}`);
    };
    for (let i = 0; i < 7; i++) {
      await ask("GET", "/v1/orders");
      await ask("POST", "/v1/orders", { amount: i, currency: i % 2 === 0 ? "EUR" : "nothing" });
      await ask("POST", "/v1/payments", { amount: i, currency: "EUR" });
      await ask("GET", "/v1/orders/ord_4Vf8aTqz0bKm2sNw9XyRcd");
    }
  });

  const shown = (found: RequestLog[]) => found.map(({ method, path, status }) => `${method} ${path} ${status}`);

  it.each([
    ["", () => true],
    ["&method=POST", (line: string) => line.startsWith("POST ")],
    ["&path=/v1/orders", (line: string) => line.includes(" /v1/orders ")],
    ["&status=400", (line: string) => line.endsWith(" 400")],
    ["&status=201&path=/v1/orders", (line: string) => line.endsWith(" /v1/orders 201")],
    ["&method=GET&path=/v1/orders", (line: string) => line.startsWith("GET /v1/orders ")],
    ["&method=GET&status=404", (line: string) => line.startsWith("GET ") && line.endsWith(" 404")],
    ["&method=DELETE", () => false],
    ["&status=418", () => false],
    ["&status=4xx", (line: string) => / 4\d\d$/.test(line)],
    ["&status=2xx&method=POST", (line: string) => line.startsWith("POST ") && line.endsWith(" 201")],
    ["&status=3xx", () => false],
    ["&created_after=2020-01-01T00:00:00Z", () => true],
    ["&created_before=2020-01-01T00:00:00Z", () => false],
  ] as const)("%s finds the matching requests, newest first, for any page size", async (filter, fits) => {
    const expectedIds = expected.filter(fits);
    expect(shown(await logs(`&key=${key.id}${filter}`))).toEqual(expectedIds);
    const paged: string[] = [];
    for (let cursor: string | null = ""; cursor !== null;) {
      const query: string = `/v1/request_logs?limit=3&key=${key.id}${filter}${cursor === "" ? "" : `&cursor=${cursor}`}`;
      const page: { data: RequestLog[]; next_cursor: string | null } = (await platform.api("GET", query)).body;
      paged.push(...shown(page.data));
      cursor = page.next_cursor;
    }
    expect(paged).toEqual(expectedIds);
  });

  it("include other keys' requests unless a key is given", async () => {
    await newKey();
    const all = await logs("&path=/v1/api_keys&status=201");
    expect(all.length).toBeGreaterThan(1);
    expect(new Set(shown(all))).toEqual(new Set(["POST /v1/api_keys 201"]));
  });

  it.each(["&method=PUT", "&status=600", "&status=x", "&key=cus_1", "&page=2"])("reject %s", async (filter) => {
    expect((await platform.api("GET", `/v1/request_logs?limit=1${filter}`)).status).toBe(400);
  });

  it("have cursors that work only with the same filters", async () => {
    const { next_cursor: cursor } = (await platform.api("GET", "/v1/request_logs?limit=1&method=POST")).body;
    const response = await platform.api("GET", `/v1/request_logs?limit=1&method=GET&cursor=${cursor}`);
    expect(response).toMatchObject({ status: 400, body: { code: "invalid_cursor" } });
  });
});

it("request logs contain no secret, wherever a client sends it", async () => {
  const { id, key } = await newKey();
  const encoded = key.replace("_", "%5f");
  const created = await platform.api("POST", "/v1/webhook_endpoints", { url: "http://127.0.0.1/", events: ["*"] });
  const secrets = [key, created.body.secret as string];
  const api = apiOf(platform.baseUrl, key);
  for (const secret of secrets) {
    await api("GET", `/v1/customers/${secret}`);
    await api("POST", `/v1/orders/${secret}/complete`);
    await api("GET", `/v1/customers?email=${secret}`);
    await api("GET", `/v1/customers?cursor=${secret}&${secret}=1`);
    await api("POST", "/v1/orders", { amount: 1, currency: "EUR" }, { "Idempotency-Key": secret });
    await api(
      "POST",
      "/v1/orders",
      { amount: 1, currency: secret },
      { "Idempotency-Key": `mine-${secret.slice(0, -5)}` },
    );
  }
  await api("GET", `/v1/customers/${encoded}`);
  const found = await logs(`&key=${id}`);
  expect(found).toHaveLength(13);
  expect(found.map(({ path }) => path)).toContain("/v1/customers/{id}");
  expect(found.map(({ path }) => path)).toContain("/v1/orders/{id}/complete");
  const text = JSON.stringify(found);
  for (const secret of [...secrets, encoded]) expect(text).not.toContain(secret.slice(0, 30));
  // Neither the request log nor any other table contains the key.
  await api("GET", "/v1/me");
  const folder = dirname(platform.database);
  const files = readdirSync(folder).map((name) => readFileSync(join(folder, name), "latin1"));
  for (const file of files) expect(file.includes(key)).toBe(false);
});

describe("the retention of the log", () => {
  const sweep = async () => {
    const tasks = clock.waiting();
    clock.passMinute();
    await expect.poll(() => clock.waiting()).toBe(tasks);
  };

  it("is 7 days of real time, whatever the sandbox's clock", async () => {
    const { id, key } = await newKey();
    await apiOf(platform.baseUrl, key)("GET", "/v1/me");
    await advanceClock(platform.api, 20 * DAY);
    await sweep();
    expect(await logs(`&key=${id}`)).toHaveLength(1);
    clock.pass((7 * DAY - 60) * 1000);
    await sweep();
    expect(await logs(`&key=${id}`)).toHaveLength(1);
    clock.pass(120_000);
    await sweep();
    expect(await logs(`&key=${id}`)).toEqual([]);
  });

  it("keeps the entries from before a restart", async () => {
    const { headers } = await platform.api("GET", "/v1/me");
    await platform.restart();
    expect((await logs()).map(({ id }) => id)).toContain(headers.get("request-id"));
  });

  it("is limited while the database rejects writes, and dropped entries are reported", async () => {
    const file = join(createConfigDir(), "recorder.db");
    let database = await openSqlite({ file, migrations: MIGRATIONS });
    await database.write(async (tx) => {
      await tx.run("INSERT INTO accounts (id, name, version, created) VALUES ('a', 'a', 'v', 1)");
      await tx.run("INSERT INTO environments (id, account_id, name) VALUES (1, 'a', 'sandbox')");
    });
    await database.close();
    const warnings: [object, string][] = [];
    const log = {
      debug: () => {},
      info: () => {},
      warn: (fields: object, message: string) => warnings.push([fields, message]),
      error: (fields: object, message: string) => warnings.push([fields, message]),
    };
    const recorder = new RequestRecorder({
      database: { write: (unit) => database.write(unit) },
      clock: systemClock,
      log,
      vault: createVault(Buffer.alloc(32), systemRandom),
    });
    const caller = { tenant: { environment: 1 }, credential: { kind: "secret_key", id: "key" }, user: null };
    const request = { method: "GET", path: "/", status: 200, milliseconds: 1 } as const;
    const more = { idempotencyKey: undefined, errorCode: undefined };
    for (let i = 0; i < 25_000; i++)
      recorder.record(caller as Caller & object, { id: `req_${i}`, ...request, ...more });
    await recorder.flush();
    expect(warnings).toEqual([]);
    database = await openSqlite({ file, migrations: MIGRATIONS });
    await recorder.close();
    const row = await database.get<{ count: number }>("SELECT COUNT(*) AS count FROM request_logs");
    expect(row).toEqual({ count: 20_000 });
    expect(warnings).toEqual([[{ count: 5_000 }, "entries of the request log were dropped"]]);
    await database.close();
  });
});
