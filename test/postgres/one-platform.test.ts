import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Client } from "pg";
import { ACCOUNT } from "../../src/platform/oauth/views.ts";
import { listenTo } from "../platform/delivery/support/listen-socket.ts";
import { startScriptedReceiver } from "../platform/delivery/support/scripted-receiver.ts";
import { apiOf, type Api } from "../support/api.ts";
import { type ServedPlatform, serveNode, startNode } from "../support/platform.ts";
import { type PostgresServer, usePostgres } from "../support/postgres.ts";
import { runCli } from "../support/run-cli.ts";
import { volume } from "../support/volume.ts";

let server: PostgresServer & { remove(): Promise<void> };
let database: string;
let nodes: ServedPlatform[];
let key: string;
let apis: Api[];

beforeAll(async () => {
  server = await usePostgres();
  database = await server.createDatabase();
  // Both start at once; one of them creates the schema and the first account.
  nodes = await Promise.all([serveNode(database), startNode(database)]);
  const first = nodes.filter((node) => node.ready.sandbox_key !== undefined);
  expect(first).toHaveLength(1);
  key = first[0]!.sandboxKey;
  apis = nodes.map((node) => apiOf(node.baseUrl, key));
});
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop()));
  await server.remove();
});

const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);

describe("two processes on one PostgreSQL", () => {
  it("show each other's changes at once", async () => {
    const created = await apis[0]!("POST", "/v1/customers", { email: "Ada@example.com", name: "Ada" });
    expect(created.status).toBe(201);
    expect((await apis[1]!("GET", `/v1/customers/${created.body.id}`)).body).toEqual(created.body);
    const changed = await apis[1]!("PATCH", `/v1/customers/${created.body.id}`, { metadata: { plan: "pro" } });
    expect((await apis[0]!("GET", `/v1/customers/${created.body.id}`)).body).toEqual(changed.body);
    const taken = await apis[1]!("POST", "/v1/customers", { email: "ada@EXAMPLE.com" });
    expect([taken.status, taken.body.code, taken.body.existing]).toEqual([409, "email_taken", created.body.id]);
  });

  it("write one request log, which each of them pages and filters", async () => {
    // No other test creates events of this type.
    const path = "/v1/oauth_apps";
    const sent = new Set<string | null>();
    for (let i = 0; i < 6; i++) sent.add((await apis[i % 2]!("GET", path)).headers.get("request-id"));
    const page = async (node: Api, query: string) =>
      (await node("GET", `/v1/request_logs?path=${path}${query}`)).body as {
        data: { id: string; key: string; created: string }[];
        next_cursor: string;
      };
    for (const node of apis) {
      const all = async () => (await page(node, "&method=GET&status=200")).data;
      await expect.poll(async () => new Set((await all()).map(({ id }) => id))).toEqual(sent);
      const newestFirst = await all();
      const times = newestFirst.map(({ created }) => created);
      expect(times).toEqual(times.toSorted().toReversed());
      const { data, next_cursor: cursor } = await page(node, "&limit=4");
      const rest = await page(node, `&limit=4&cursor=${cursor}`);
      expect([...data, ...rest.data]).toEqual(newestFirst);
      expect((await page(node, `&key=${data[0]!.key}`)).data).toHaveLength(6);
      expect((await page(node, "&method=POST")).data).toEqual([]);
      expect((await page(node, "*&limit=4")).data).toEqual(data);
      expect((await page(node, `*&status=2xx&key=${data[0]!.key}`)).data).toHaveLength(6);
    }
  });

  it("give an email address to one of many concurrent requests", async () => {
    const responses = await Promise.all(
      Array.from({ length: 40 }, (_, i) => apis[i % 2]!("POST", "/v1/customers", { email: "one@example.com" })),
    );
    const statuses = responses.map((response) => response.status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(1);
    expect(statuses.filter((status) => status === 409)).toHaveLength(39);
  });

  it("reject conflicting changes of emails under load, and never fail", async () => {
    const create = (_: unknown, i: number) =>
      apis[i % 2]!("POST", "/v1/customers", { email: `storm-${i}@example.com` });
    const customers = await Promise.all(Array.from({ length: 8 }, create));
    const change = async (_: unknown, worker: number) => {
      const statuses: number[] = [];
      for (let i = 0; i < volume(100, 4); i++) {
        const { id } = customers[(worker + i) % 8]!.body as { id: string };
        const email = `storm-${(worker * 7 + i * 5) % 12}@example.com`;
        statuses.push((await apis[worker % 2]!("PATCH", `/v1/customers/${id}`, { email })).status);
      }
      return statuses;
    };
    const statuses = (await Promise.all(Array.from({ length: 40 }, change))).flat();
    expect(statuses.filter((status) => ![200, 409, 503].includes(status))).toEqual([]);
    expect(statuses).toContain(200);
    const { data } = (await apis[0]!("GET", "/v1/customers?limit=100")).body as { data: { email: string }[] };
    const emails = data.map(({ email }) => email).filter((email) => email.startsWith("storm-"));
    expect([emails.length, new Set(emails).size]).toEqual([8, 8]);
  });

  it("have the same counts, and stream each other's events", async () => {
    const stream = await fetch(`${nodes[1]!.baseUrl}/v1/events/stream?after=now`, {
      headers: { Authorization: `Bearer ${key}` },
    });
    const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader();
    await apis[0]!("POST", "/v1/customers", { email: "first@example.com" });
    const created = await apis[0]!("POST", "/v1/customers", { email: "streamed@example.com" });
    let text = "";
    while (!text.includes(created.body.id)) text += (await reader.read()).value ?? "";
    await reader.cancel();
    expect(text).toMatch(/^id: evt_\w+\ndata: \{"id":"evt_/m);
    const figures = await Promise.all(apis.map((api) => api("GET", "/v1/statistics")));
    const counts = figures.map(({ body }) => sum(body.minutes.map(({ events }: { events: number }) => events)));
    expect(counts[0]).toBeGreaterThan(1);
    expect(counts[1]).toBe(counts[0]);
  });

  it("lose none of many concurrent changes to one customer", async () => {
    const { body } = await apis[0]!("POST", "/v1/customers", { email: "many@example.com" });
    const names = Array.from({ length: 30 }, (_, i) => `k${i}`);
    await Promise.all(
      names.map((name, i) => apis[i % 2]!("PATCH", `/v1/customers/${body.id}`, { metadata: { [name]: "1" } })),
    );
    const { metadata } = (await apis[0]!("GET", `/v1/customers/${body.id}`)).body;
    expect(Object.keys(metadata).toSorted()).toEqual(names.toSorted());
  });

  it("run a request with an idempotency key once, at any process", async () => {
    const ask = (i: number) =>
      apis[i % 2]!("POST", "/v1/orders", { amount: 5005, currency: "EUR" }, { "Idempotency-Key": "the-same" });
    const responses = await Promise.all(Array.from({ length: 20 }, (_, i) => ask(i)));
    const created = responses.filter((response) => response.status === 201);
    expect(created.length).toBeGreaterThan(0);
    expect(new Set(created.map((response) => response.body.id)).size).toBe(1);
    expect(responses.every(({ status }) => status === 201 || status === 409)).toBe(true);
    const late = await Promise.all([ask(0), ask(1)]);
    expect(late.map(({ headers }) => headers.get("idempotent-replayed"))).toEqual(["true", "true"]);
    expect(late.map(({ body }) => body.id)).toEqual([created[0]!.body.id, created[0]!.body.id]);
    const { data } = (await apis[0]!("GET", "/v1/orders?limit=100")).body as { data: { amount: number }[] };
    expect(data.filter(({ amount }) => amount === 5005)).toHaveLength(1);
  });

  it("revoke a key everywhere immediately", async () => {
    const created = await apis[0]!("POST", "/v1/api_keys", { name: "short", scopes: ["orders:read"] });
    const requested = () =>
      Promise.all(nodes.map((node) => apiOf(node.baseUrl, created.body.key as string)("GET", "/v1/orders")));
    expect((await requested()).map(({ status }) => status)).toEqual([200, 200]);
    await apis[1]!("POST", `/v1/api_keys/${created.body.id}/revoke`);
    expect((await requested()).map(({ status }) => status)).toEqual([401, 401]);
  });

  it("accept a sign-in link once, and both know its session", async () => {
    const link = await runCli(["serve", "link", "--json"], {
      env: { SERVICE_DATABASE: database, SERVICE_MASTER_KEY: "5a".repeat(32) },
    });
    expect(link.stderr).toBe("");
    const { pathname, search, origin } = new URL((JSON.parse(link.stdout) as { sign_in_url: string }).sign_in_url);
    expect(nodes.map((node) => node.baseUrl)).toContain(origin);
    const responses = await Promise.all(
      nodes.map((node) => fetch(node.baseUrl + pathname + search, { redirect: "manual" })),
    );
    const admitted = responses.filter((response) => response.status === 303);
    expect(admitted).toHaveLength(1);
    const cookies = admitted[0]!.headers.getSetCookie();
    const session = cookies.at(-1)!.split(";", 1)[0]!;
    for (const node of nodes) {
      const home = await fetch(`${node.baseUrl}${ACCOUNT}`, { headers: { cookie: session } });
      expect(await home.text()).toContain("owner@localhost");
    }
  });

  it("share one test clock, which one process advances at a time", async () => {
    const [a, b] = await Promise.all(apis.map((api) => api("POST", "/v1/test_clock/advance", { seconds: 3600 })));
    const statuses = [a!.status, b!.status].toSorted((x, y) => x - y);
    expect([
      [200, 200],
      [200, 409],
    ]).toContainEqual(statuses);
    const moved = 3600 * statuses.filter((status) => status === 200).length;
    const clocks = await Promise.all(apis.map((api) => api("GET", "/v1/test_clock")));
    expect(clocks.map(({ body }) => body.offset_seconds)).toEqual([moved, moved]);
  });

  it("send every listener all events in the same order", async () => {
    const listeners = await Promise.all(
      [0, 1, 1].map((node) => listenTo(nodes[node]!.baseUrl, key, "?after=now&window=512")),
    );
    await Promise.all(
      Array.from({ length: 60 }, (_, i) => apis[i % 2]!("POST", "/v1/orders", { amount: i, currency: "EUR" })),
    );
    for (const listener of listeners) await listener.until(60);
    const received = listeners.map(({ events }) => events.map(({ id }) => id));
    expect(new Set(received[0]).size).toBe(60);
    expect(received[1]).toEqual(received[0]);
    expect(received[2]).toEqual(received[0]);
    await Promise.all(listeners.map((listener) => listener.close()));
  });

  it("skip no event that is committed late", async () => {
    const before = (await apis[0]!("POST", "/v1/events", { type: "order.created", data: { id: "ord_before" } })).body;
    const listener = await listenTo(nodes[1]!.baseUrl, key, `?after=${before.id}`);
    const slow = new Client({ connectionString: database });
    await slow.connect();
    await slow.query("BEGIN");
    await slow.query(
      `INSERT INTO events (environment, id, type, object_id, created, body)
       SELECT environment, 'evt_0000000000000000000000', type, object_id, created, body
       FROM events ORDER BY seq DESC LIMIT 1`,
    );
    const { id } = (await apis[0]!("POST", "/v1/events", { type: "order.created", data: { id: "ord_x" } })).body;
    // No event after the late one is sent, and a client that starts after the visible ones still receives it.
    const begunMeanwhile = await listenTo(nodes[0]!.baseUrl, key, `?after=${id}`);
    expect(listener.events).toEqual([]);
    await slow.query("COMMIT");
    await slow.end();
    await listener.until(2);
    expect(listener.events.map((event) => event.id)).toEqual(["evt_0000000000000000000000", id]);
    await begunMeanwhile.until(1);
    expect(begunMeanwhile.events[0]!.id).toBe("evt_0000000000000000000000");
    await listener.close();
    await begunMeanwhile.close();
  });

  it("deliver each event once", async () => {
    const receiver = await startScriptedReceiver();
    const endpoint = { url: `${receiver.url}/hook`, events: ["payment.created"] };
    expect((await apis[0]!("POST", "/v1/webhook_endpoints", endpoint)).status).toBe(201);
    await Promise.all(
      Array.from({ length: 50 }, (_, i) => apis[i % 2]!("POST", "/v1/payments", { amount: i, currency: "EUR" })),
    );
    await receiver.until(50);
    const settled = async () => (await apis[1]!("GET", "/v1/deliveries?status=pending")).body.data.length as number;
    await expect.poll(settled).toBe(0);
    expect(new Set(receiver.received.map(({ event }) => event)).size).toBe(50);
    expect(receiver.received).toHaveLength(50);
    await receiver.close();
  });
});

describe("an additional process", () => {
  it("is rejected with another master key", async () => {
    await expect(startNode(database, [], "77".repeat(32))).rejects.toThrow(/created with another master key/);
  });

  it("is rejected if it is an older version", async () => {
    const other = await server.createDatabase();
    await (await serveNode(other)).stop();
    await server.query("INSERT INTO schema_migrations VALUES (999, 'later', '9.9.9', 'digest')", [], other);
    await expect(serveNode(other)).rejects.toThrow(/schema 999 by version 9\.9\.9/);
  });

  it("shares the rate limits of a credential with the others", async () => {
    const other = await server.createDatabase();
    const limits = ["--rate-limit", "0.5", "--rate-burst", "20"];
    const pair = [await serveNode(other, limits)];
    pair.push(await startNode(other, limits));
    const began = performance.now();
    const responses = await Promise.all(
      Array.from({ length: 60 }, (_, i) => apiOf(pair[i % 2]!.baseUrl, pair[0]!.sandboxKey)("GET", "/v1/orders")),
    );
    const seconds = (performance.now() - began) / 1000;
    const passed = sum(responses.map(({ status }) => (status === 200 ? 1 : 0)));
    expect(passed).toBeGreaterThanOrEqual(20);
    expect(passed).toBeLessThanOrEqual(20 + Math.ceil(seconds * 0.5));
    const rejected = responses.find(({ status }) => status === 429)!;
    expect(Number(rejected.headers.get("retry-after"))).toBeGreaterThan(0);
    await Promise.all(pair.map((node) => node.stop()));
  });

  it("may only serve, or only deliver", async () => {
    const other = await server.createDatabase();
    const api = await serveNode(other, ["--role", "api"]);
    const receiver = await startScriptedReceiver();
    const call = apiOf(api.baseUrl, api.sandboxKey);
    await call("POST", "/v1/webhook_endpoints", { url: receiver.url, events: ["*"] });
    await call("POST", "/v1/orders", { amount: 1, currency: "EUR" });
    const waiting = await call("GET", "/v1/deliveries?status=pending");
    expect(waiting.body.data).toMatchObject([{ attempt_count: 0 }]);
    const worker = await startNode(other, ["--role", "worker"]);
    await receiver.until(1);
    const probe = apiOf(worker.baseUrl, api.sandboxKey);
    expect((await probe("GET", "/readyz")).status).toBe(200);
    expect((await probe("GET", "/v1/orders")).status).toBe(404);
    expect([await worker.stop(), await api.stop()]).toEqual([0, 0]);
    await receiver.close();
  });

  it("continues after the event log's last number on a database copied to a new server", async () => {
    const other = await server.createDatabase();
    const first = await serveNode(other);
    const call = apiOf(first.baseUrl, first.sandboxKey);
    await call("POST", "/v1/orders", { amount: 1, currency: "EUR" });
    await first.stop();
    await server.query("UPDATE events SET seq = seq + 1000000000000", [], other);
    const second = await serveNode(other);
    const listener = await listenTo(second.baseUrl, first.sandboxKey, "?after=now");
    const again = apiOf(second.baseUrl, first.sandboxKey);
    await again("POST", "/v1/orders", { amount: 2, currency: "EUR" });
    await listener.until(1);
    await listener.close();
    await second.stop();
  });
});

describe("behind a proxy, the platform", () => {
  it("uses the client's address and the public URL", async () => {
    const other = await server.createDatabase();
    const flags = ["--trust-proxy", "127.0.0.0/8", "--public-url", "https://api.example.com", "--host", "0.0.0.0"];
    const node = await serveNode(other, flags);
    expect(node.baseUrl).toBe("https://api.example.com");
    const local = node.listenUrl.replace("0.0.0.0", "127.0.0.1");
    const call = apiOf(local, node.sandboxKey);
    const created = await call("POST", "/v1/api_keys", {
      name: "bound",
      scopes: ["orders:read"],
      ip_allowlist: ["203.0.113.0/24"],
    });
    const bound = apiOf(local, created.body.key as string);
    const from = async (forwarded: string | undefined) =>
      (await bound("GET", "/v1/orders", undefined, forwarded === undefined ? {} : { "X-Forwarded-For": forwarded }))
        .status;
    expect(await from("203.0.113.9")).toBe(200);
    expect(await from("198.51.100.1, 203.0.113.9, 127.0.0.9")).toBe(200);
    expect(await from("203.0.113.9, 198.51.100.1")).toBe(403);
    expect(await from(undefined)).toBe(403);
    const metadata = await call("GET", "/.well-known/oauth-authorization-server");
    expect(metadata.body.issuer).toBe("https://api.example.com");
    const page = await fetch(`${local}/sign-in`);
    expect(page.headers.get("set-cookie")).toContain("Secure");
    await node.stop();
  });
});
