import type { ServerResponse } from "node:http";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { followStream } from "./delivery/support/event-stream.ts";
import { type HostedPlatform, hostPlatform } from "./delivery/support/hosted-platform.ts";
import { listenTo } from "./delivery/support/listen-socket.ts";
import { createMinuteClock } from "./delivery/support/minute-clock.ts";
import { startScriptedReceiver } from "./delivery/support/scripted-receiver.ts";
import { advanceClock } from "../support/advance-clock.ts";
import { type Api, apiOf } from "../support/api.ts";
import { type ServedPlatform, serveNode, servePlatform, startNode } from "../support/platform.ts";
import { usePostgres } from "../support/postgres.ts";

const DAY = 86_400;
/** Everything that a reset removes, by the path of its list. */
const LISTS = ["customers", "orders", "payments", "events", "deliveries", "request_logs", "bulk_operations"];

/** The processes of a platform: resets go to the first, and the last must follow. */
interface Scene {
  nodes: ServedPlatform[];
  remove(): Promise<void>;
}

const ENGINES: Record<string, () => Promise<Scene>> = {
  "an SQLite file": async () => {
    const platform = await servePlatform();
    return { nodes: [platform], remove: async () => void (await platform.stop()) };
  },
  "two processes on PostgreSQL": async () => {
    const server = await usePostgres();
    const database = await server.createDatabase();
    const first = await serveNode(database);
    const nodes = [first, await startNode(database)];
    const remove = async () => {
      await Promise.all(nodes.map((node) => node.stop()));
      await server.remove();
    };
    return { nodes, remove };
  },
};

describe.each(Object.entries(ENGINES))("a reset of the sandbox of %s", (_name, start) => {
  let scene: Scene;
  let sandboxKey: string;
  /** The process that resets the sandbox, and the other one. */
  let api: Api;
  let other: Api;
  let live: Api;
  let otherUrl: string;

  beforeAll(async () => {
    scene = await start();
    const [first] = scene.nodes as [ServedPlatform];
    const last = scene.nodes.at(-1)!;
    ({ sandboxKey } = first);
    api = apiOf(first.baseUrl, sandboxKey);
    other = apiOf(last.baseUrl, sandboxKey);
    live = apiOf(first.baseUrl, first.liveKey);
    otherUrl = last.baseUrl;
  });
  afterAll(() => scene.remove());

  const reset = async (body: object = {}) => {
    const response = await api("POST", "/v1/sandbox/reset", body);
    expect(response).toMatchObject({ status: 200, body: { object: "sandbox", livemode: false } });
  };
  const createOrder = async (of = api, amount = 1) => {
    const { status, body } = await of("POST", "/v1/orders", { amount, currency: "EUR" });
    expect(status).toBe(201);
    return body.id as string;
  };
  const receiverThat = async (respond: (response: ServerResponse) => void) => {
    const receiver = await startScriptedReceiver((_request, response) => respond(response));
    onTestFinished(() => receiver.close());
    return receiver;
  };
  const createEndpoint = async (url: string) =>
    (await api("POST", "/v1/webhook_endpoints", { url, events: ["order.*"] })).body;
  const idsIn = async (list: string, of = other) =>
    (await of("GET", `/v1/${list}?limit=100`)).body.data.map(({ id }: { id: string }) => id) as string[];

  it("removes all objects, events, deliveries and logs, and returns to real time", async () => {
    const receiver = await receiverThat((response) => response.end());
    await createEndpoint(receiver.url);
    const customer = await api("POST", "/v1/customers", { email: "ada@example.com" });
    await createOrder();
    await api("POST", "/v1/payments", { amount: 1, currency: "EUR" });
    await api("POST", "/v1/events/replay", {});
    await receiver.until(1);
    await advanceClock(api, DAY);
    const all = () => Promise.all(LISTS.map((list) => idsIn(list)));
    // Requests are logged in the background.
    await expect.poll(async () => (await all()).every((ids) => ids.length > 0)).toBe(true);
    const before = await all();
    await reset();
    const after = await all();
    expect(after.flat().filter((id) => before.flat().includes(id))).toEqual([]);
    expect((await other("GET", "/v1/test_clock")).body).toMatchObject({ offset_seconds: 0, status: "idle" });
    expect((await other("GET", `/v1/customers/${customer.body.id}`)).status).toBe(404);
    expect((await other("GET", "/v1/statistics")).body.totals.events).toBe(0);
    expect((await other("POST", "/v1/customers", { email: "ada@example.com" })).status).toBe(201);
  });

  it("keeps keys, apps and endpoints with their secrets, and removes endpoints only on request", async () => {
    const key = (await api("POST", "/v1/api_keys", { scopes: ["orders:read"] })).body;
    const app = { name: "Reports", redirect_uris: ["https://example.com/callback"] };
    const { body: created } = await api("POST", "/v1/oauth_apps", app);
    const receiver = await receiverThat((response) => response.end());
    const { id } = await createEndpoint(receiver.url);
    await createOrder();
    await receiver.until(1);
    await reset();
    expect(await idsIn("webhook_endpoints")).toContain(id);
    expect(await idsIn("oauth_apps")).toContain(created.id);
    expect((await apiOf(otherUrl, key.key)("GET", "/v1/orders")).status).toBe(200);
    await createOrder(other);
    await receiver.until(2);
    await reset({ endpoints: "remove" });
    expect(await idsIn("webhook_endpoints")).toEqual([]);
    await createOrder(other);
    expect(await idsIn("deliveries")).toEqual([]);
  });

  it("leaves no time of an endpoint that it keeps in the future", async () => {
    await advanceClock(api, DAY);
    const { id } = await createEndpoint("https://example.com/");
    await api("POST", `/v1/webhook_endpoints/${id}/rotate_secret`, { overlap_seconds: 600 });
    await api("PATCH", `/v1/webhook_endpoints/${id}`, { status: "disabled" });
    await reset();
    const kept = (await other("GET", `/v1/webhook_endpoints/${id}`)).body;
    const { now } = (await other("GET", "/v1/test_clock")).body;
    expect([kept.created, kept.secret_created, kept.disabled_at].filter((time) => time > now)).toEqual([]);
    expect(Date.parse(kept.previous_secret_until) - Date.parse(now)).toBeGreaterThan(0);
    expect(Date.parse(kept.previous_secret_until) - Date.parse(now)).toBeLessThanOrEqual(600_000);
    await reset({ endpoints: "remove" });
  });

  it("makes no attempts for earlier deliveries, and records none that were in flight", async () => {
    const responses: ServerResponse[] = [];
    const slow = await receiverThat((response) => void responses.push(response));
    const failing = await receiverThat((response) => response.writeHead(500).end());
    await createEndpoint(slow.url);
    await createEndpoint(failing.url);
    const old = await createOrder();
    await Promise.all([slow.until(1), failing.until(1)]);
    await expect.poll(async () => (await api("GET", "/v1/deliveries?status=pending")).body.data.length).toBe(2);
    await reset();
    responses.splice(0).forEach((response) => response.writeHead(410).end());
    // The retries of before would be due.
    await advanceClock(other, DAY);
    const fresh = await createOrder(other);
    await Promise.all([slow.until(2), failing.until(2)]);
    responses.splice(0).forEach((response) => response.end());
    await expect.poll(async () => (await other("GET", "/v1/deliveries?status=succeeded")).body.data.length).toBe(1);
    const orders = [...slow.received, ...failing.received].map(({ body }) => JSON.parse(body).data.object.id as string);
    expect(orders.filter((id) => id === old)).toHaveLength(2);
    expect(orders.slice(1)).toContain(fresh);
    const endpoints = (await other("GET", "/v1/webhook_endpoints")).body.data;
    expect(endpoints.map(({ status }: { status: string }) => status)).not.toContain("disabled");
    await reset({ endpoints: "remove" });
  });

  it("is reported to open listeners and streams, which continue with the new log", async () => {
    const listener = await listenTo(otherUrl, sandboxKey);
    const stream = await followStream(otherUrl, sandboxKey);
    onTestFinished(async () => {
      stream.close();
      await listener.close();
    });
    const old = await createOrder();
    await listener.until(1);
    await reset();
    await expect.poll(() => listener.frames.map(({ frame }) => frame)).toEqual(["ready", "events", "reset"]);
    // Acknowledged too late: it is recorded nowhere.
    listener.ack(1);
    const fresh = await createOrder();
    await listener.until(2);
    listener.ack(2);
    await expect.poll(async () => (await other("GET", "/v1/deliveries")).body.data.length).toBe(1);
    expect(listener.events.map(({ body }) => JSON.parse(body).data.object.id)).toEqual([old, fresh]);
    await stream.until(4);
    expect(stream.messages.map(({ event }) => event)).toEqual(["ready", undefined, "reset", undefined]);
    expect(JSON.parse(stream.messages[3]!.data).data.object.id).toBe(fresh);
  });

  it("is reported to a listener that acknowledges nothing, and then gets only new events", async () => {
    for (let i = 0; i < 12; i += 1) await createOrder();
    const listener = await listenTo(otherUrl, sandboxKey, "?window=8&after=-3600");
    onTestFinished(() => listener.close());
    await listener.until(8);
    await reset();
    await expect.poll(() => listener.frames.at(-1)?.frame, { timeout: 30_000 }).toBe("reset");
    const sent = listener.events.length;
    const fresh = await createOrder();
    for (let seq = 1; seq <= sent; seq += 1) listener.ack(seq);
    await listener.until(sent + 1);
    expect(listener.events.slice(sent).map(({ body }) => JSON.parse(body).data.object.id)).toEqual([fresh]);
    listener.ack(sent + 1);
    await expect.poll(async () => (await other("GET", "/v1/deliveries")).body.data.length).toBe(1);
  });

  it("makes earlier positions resume at the start of the new log, with the reason for the gap", async () => {
    await createOrder();
    const [position] = await idsIn("events");
    await advanceClock(api, DAY);
    await createOrder();
    const [ahead] = await idsIn("events");
    await reset();
    const fresh = [await createOrder(), await createOrder()];
    for (const after of [position!, ahead!]) {
      const listener = await listenTo(otherUrl, sandboxKey, `?after=${after}`);
      await listener.until(2);
      expect(listener.frames[1]).toEqual({ frame: "gap", from: after, to: listener.events[0]!.id, reason: "reset" });
      expect(listener.events.map(({ body }) => JSON.parse(body).data.object.id)).toEqual(fresh);
      const stream = await followStream(otherUrl, sandboxKey, { lastEventId: after });
      await stream.until(4);
      expect(JSON.parse(stream.messages[1]!.data)).toMatchObject({ from: after, reason: "reset" });
      stream.close();
      await listener.close();
    }
  });

  it("happens once for an Idempotency-Key", async () => {
    const key = { "Idempotency-Key": `reset ${otherUrl}`.replaceAll(/\W/g, "") };
    const first = await api("POST", "/v1/sandbox/reset", {}, key);
    const order = await createOrder();
    const again = await other("POST", "/v1/sandbox/reset", {}, key);
    expect([again.status, again.headers.get("idempotent-replayed"), again.body]).toEqual([200, "true", first.body]);
    expect(await idsIn("orders")).toEqual([order]);
  });

  it("stops an advance of the test clock and a bulk operation", async () => {
    const responses: ServerResponse[] = [];
    const slow = await receiverThat((response) => void responses.push(response));
    await createEndpoint(slow.url);
    await createOrder();
    await slow.until(1);
    responses[0]!.writeHead(500).end();
    await expect.poll(async () => (await api("GET", "/v1/deliveries")).body.data[0].attempt_count).toBe(1);
    const advance = api("POST", "/v1/test_clock/advance", { seconds: 3600 });
    await slow.until(2);
    await api("POST", "/v1/events/replay", {});
    await reset({ endpoints: "remove" });
    expect((await other("GET", "/v1/test_clock")).body).toMatchObject({ status: "idle", offset_seconds: 0 });
    // Its next retry would be due before the advance's end.
    responses[1]!.writeHead(500).end();
    expect((await advance).status).toBeLessThan(300);
    expect((await advanceClock(other, 60)).body).toMatchObject({ offset_seconds: 60, status: "idle" });
    expect(await idsIn("bulk_operations")).toEqual([]);
    await reset();
    // The replay may have sent its first attempts before the reset.
    const attempts = slow.received.map(({ headers }) => Number(headers["service-delivery-attempt"]));
    expect(attempts.filter((attempt) => attempt > 1)).toEqual([2]);
  });

  it("leaves one new sandbox if it runs twice at once, and loses nothing that was created after both", async () => {
    const both = await Promise.all([api, other].map((of) => of("POST", "/v1/sandbox/reset")));
    expect(both.map(({ status }) => status)).toContain(200);
    for (const { status, body } of both) if (status !== 200) expect(body).toMatchObject({ code: "unavailable" });
    const order = await createOrder(other);
    expect(await idsIn("orders", api)).toEqual([order]);
  });

  it("loses nothing under load that was created after its response, and keeps nothing from before", async () => {
    const receivers = [
      await receiverThat((response) => response.end()),
      await receiverThat((response) => response.end()),
    ];
    for (const { url } of receivers) await createEndpoint(url);
    const created: { id: string; began: number }[] = [];
    let isOver = false;
    const writer = async (of: Api) => {
      while (!isOver) {
        const began = performance.now();
        const { status, body } = await of("POST", "/v1/orders", { amount: 1, currency: "EUR" });
        if (status === 201) created.push({ id: body.id, began });
        else expect([status, body.code]).toEqual([503, "unavailable"]);
      }
    };
    const writers = Array.from({ length: 8 }, (_, index) => writer(index % 2 === 0 ? api : other));
    await expect.poll(() => created.length).toBeGreaterThan(50);
    const ofOrders = (received: readonly { body: string }[]) =>
      received.map(({ body }) => JSON.parse(body).data.object.id as string);
    const haveOne = () => receivers.every(({ received }) => created.some(({ id }) => ofOrders(received).includes(id)));
    await expect.poll(haveOne).toBe(true);
    const before = new Set(created.map(({ id }) => id));
    await reset();
    const resetAt = performance.now();
    await expect.poll(() => created.filter(({ began }) => began > resetAt).length).toBeGreaterThan(20);
    isOver = true;
    await Promise.all(writers);
    const found = new Set<string>();
    for (let cursor: string | null = ""; cursor !== null;) {
      const { body } = await api("GET", `/v1/orders?limit=100${cursor === "" ? "" : `&cursor=${cursor}`}`);
      for (const { id } of body.data) found.add(id);
      cursor = body.next_cursor;
    }
    expect([...before].filter((id) => found.has(id))).toEqual([]);
    const acknowledged = created.filter(({ began }) => began > resetAt).map(({ id }) => id);
    expect(acknowledged.filter((id) => !found.has(id))).toEqual([]);
    for (const { received } of receivers) {
      await expect.poll(() => acknowledged.filter((id) => !ofOrders(received).includes(id))).toEqual([]);
    }
    await expect.poll(async () => (await api("GET", "/v1/deliveries?status=pending")).body.data).toEqual([]);
    const events = new Set<string>();
    for (let cursor: string | null = ""; cursor !== null;) {
      const { body } = await api("GET", `/v1/deliveries?limit=100${cursor === "" ? "" : `&cursor=${cursor}`}`);
      for (const { event } of body.data) events.add(event);
      cursor = body.next_cursor;
    }
    for (const { received } of receivers) {
      const old = received.filter((_, index) => before.has(ofOrders(received)[index]!));
      expect(old.length).toBeGreaterThan(0);
      expect(old.map(({ body }) => JSON.parse(body).id).filter((id: string) => events.has(id))).toEqual([]);
    }
    await reset({ endpoints: "remove" });
  });

  it("is rejected in live mode, without its scope, and with an unknown choice", async () => {
    expect(await live("POST", "/v1/sandbox/reset")).toMatchObject({ status: 403, body: { code: "sandbox_only" } });
    const { key } = (await api("POST", "/v1/api_keys", { scopes: ["orders:write"] })).body;
    expect(await apiOf(otherUrl, key)("POST", "/v1/sandbox/reset")).toMatchObject({
      status: 403,
      body: { code: "insufficient_scope", required_scope: "sandbox:write" },
    });
    for (const body of [{ endpoints: "forget" }, { endpoints: null }, { endpoint: "keep" }, []]) {
      expect((await api("POST", "/v1/sandbox/reset", body)).status).toBe(400);
    }
  });
});

describe("the rows of a sandbox that was reset", () => {
  let platform: HostedPlatform;
  const clock = createMinuteClock();
  beforeAll(async () => {
    platform = await hostPlatform({ clock });
  });
  afterAll(() => platform.close());

  it("are removed in the background, and its number after some minutes", async () => {
    const { openSqliteReader } = await import("../../src/platform/storage/sqlite/open.ts");
    const receiver = await startScriptedReceiver((_request, response) => response.writeHead(500).end());
    await platform.api("POST", "/v1/webhook_endpoints", { url: receiver.url, events: ["*"] });
    for (let i = 0; i < 40; i++) {
      await platform.api("POST", "/v1/customers", { email: `${i}@example.com` }, { "Idempotency-Key": `key-${i}` });
    }
    await receiver.until(40);
    await platform.live("POST", "/v1/customers", { email: "kept@example.com" });
    await advanceClock(platform.api, 60);
    await platform.api("POST", "/v1/sandbox/reset", { endpoints: "remove" });
    const reader = await openSqliteReader(platform.database);
    const tables = await reader.all<{ name: string }>(
      "SELECT m.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c ON c.name = 'environment' WHERE m.type = 'table'",
    );
    const remaining = async () => {
      const counts: Record<string, number> = {};
      for (const { name } of [...tables, { name: "attempts" }]) {
        const where =
          name === "attempts"
            ? ""
            : "WHERE environment IN (SELECT id FROM environments WHERE name NOT IN ('live', 'sandbox'))";
        const row = await reader.get<{ count: number }>(`SELECT COUNT(*) AS count FROM ${name} ${where}`);
        if (row!.count > 0) counts[name] = row!.count;
      }
      return counts;
    };
    const before = await remaining();
    expect(Object.keys(before)).toEqual(
      expect.arrayContaining([
        "customers",
        "events",
        "deliveries",
        "attempts",
        "idempotency_keys",
        "webhook_endpoints",
      ]),
    );
    // What was in flight during the reset may be written after the first removal.
    const afterMinute = () => {
      clock.passMinute();
      return remaining();
    };
    await expect.poll(afterMinute).toEqual({});
    clock.pass(600_000);
    const numbers = async () => {
      clock.passMinute();
      return (await reader.all("SELECT id FROM environments")).length;
    };
    await expect.poll(numbers).toBe(2);
    expect((await platform.live("GET", "/v1/customers")).body.data).toHaveLength(1);
    await reader.close();
    await receiver.close();
  });
});
