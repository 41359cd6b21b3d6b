import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { startScriptedReceiver } from "../delivery/support/scripted-receiver.ts";
import { followStream } from "../delivery/support/event-stream.ts";
import { advanceClock } from "../support/advance-clock.ts";
import { type Api, apiOf } from "../support/api.ts";
import { type ServedPlatform, servePlatform, startNode } from "../support/platform.ts";
import { type PostgresServer, usePostgres } from "../support/postgres.ts";

const SNAPSHOTS = "/v1/sandbox/snapshots";
const MAX_SNAPSHOTS = 20;
const MAX_OBJECTS = 100_000;

describe.each(["SQLite", "PostgreSQL"])("snapshots on %s", (engine) => {
  let server: (PostgresServer & { remove(): Promise<void> }) | undefined;
  let url: string;
  let nodes: ServedPlatform[];
  /** With two processes, a snapshot that one saves is restored by the other. */
  let api: Api;
  let other: Api;
  let live: Api;

  beforeAll(async () => {
    if (engine === "SQLite") nodes = [await servePlatform()];
    else {
      server = await usePostgres();
      url = await server.createDatabase();
      nodes = [await startNode(url), await startNode(url)];
    }
    const [first] = nodes as [ServedPlatform];
    api = apiOf(first.baseUrl, first.sandboxKey);
    other = apiOf(nodes.at(-1)!.baseUrl, first.sandboxKey);
    live = apiOf(first.baseUrl, first.liveKey);
  });
  afterAll(async () => {
    await Promise.all(nodes.map((node) => node.stop()));
    await server?.remove();
  });
  beforeEach(async () => {
    expect((await api("POST", "/v1/sandbox/reset", { endpoints: "remove" })).status).toBe(200);
    for (const { name } of (await api("GET", SNAPSHOTS)).body.data) await api("DELETE", `${SNAPSHOTS}/${name}`);
  });

  const save = (name: unknown) => api("POST", SNAPSHOTS, { name });
  const restore = (name: string) => other("POST", `${SNAPSHOTS}/${name}/restore`);
  const everything = async () => {
    const lists = ["customers", "orders", "payments", "webhook_endpoints"];
    return Promise.all(lists.map(async (list) => (await api("GET", `/v1/${list}`)).body.data));
  };
  const createCustomer = async (email: string) => {
    const { status, body } = await api("POST", "/v1/customers", { email, metadata: { plan: "team" } });
    expect(status).toBe(201);
    return body.id as string;
  };

  it("restore objects with their IDs, endpoints with their secrets, and the time, without events", async () => {
    const receiver = await startScriptedReceiver();
    onTestFinished(() => receiver.close());
    const customer = await createCustomer("ada@example.com");
    const order = await api("POST", "/v1/orders", { amount: 1999, currency: "EUR", customer });
    await api("POST", `/v1/orders/${order.body.id}/complete`);
    await api("POST", "/v1/payments", { amount: 1999, currency: "EUR", order: order.body.id });
    const { body: endpoint } = await api("POST", "/v1/webhook_endpoints", {
      url: receiver.url,
      events: ["customer.created"],
    });
    await advanceClock(api, 86_400);
    const before = await everything();
    expect(await save("base")).toMatchObject({
      status: 200,
      body: { name: "base", object: "snapshot", objects: 3, offset_seconds: 86_400, livemode: false },
    });
    await api("PATCH", `/v1/customers/${customer}`, { name: "Ada" });
    await api("DELETE", `/v1/webhook_endpoints/${endpoint.id}`);
    await createCustomer("bob@example.com");
    for (let round = 0; round < 2; round++) {
      expect(await restore("base")).toMatchObject({ status: 200, body: { object: "sandbox", snapshot: "base" } });
      expect(await everything()).toEqual(before);
      expect((await api("GET", "/v1/events")).body.data).toEqual([]);
      expect((await api("GET", "/v1/test_clock")).body.offset_seconds).toBe(86_400);
      const stream = await followStream(nodes[0]!.baseUrl, nodes[0]!.sandboxKey);
      await createCustomer("new@example.com");
      await stream.until(2);
      stream.close();
      await receiver.until(round + 1);
    }
    const { verify } = await import("../../src/webhooks/index.ts");
    const { body, headers } = receiver.received.at(-1)!;
    const event = verify({ payload: body, header: String(headers["service-signature"]), secrets: endpoint.secret });
    expect(event.type).toBe("customer.created");
  });

  it("stay through resets, are replaced by a second one of their name, and are deleted", async () => {
    await createCustomer("ada@example.com");
    await save("one");
    await createCustomer("bob@example.com");
    await save("one");
    await save("two");
    await api("POST", "/v1/sandbox/reset");
    const list = async () => (await other("GET", SNAPSHOTS)).body.data.map((one: { name: string }) => one.name);
    expect(await list()).toEqual(["two", "one"]);
    await restore("one");
    expect((await api("GET", "/v1/customers")).body.data).toHaveLength(2);
    expect(await other("DELETE", `${SNAPSHOTS}/one`)).toMatchObject({ status: 200, body: { name: "one", objects: 2 } });
    expect(await list()).toEqual(["two"]);
    expect((await restore("one")).status).toBe(404);
    expect((await api("GET", "/v1/customers")).body.data).toHaveLength(2);
  });

  it("are restored once for an Idempotency-Key", async () => {
    await save("base");
    const key = { "Idempotency-Key": "restore-once" };
    const first = await api("POST", `${SNAPSHOTS}/base/restore`, undefined, key);
    const id = await createCustomer("later@example.com");
    const again = await other("POST", `${SNAPSHOTS}/base/restore`, undefined, key);
    expect([again.body, again.headers.get("idempotent-replayed")]).toEqual([first.body, "true"]);
    expect((await api("GET", `/v1/customers/${id}`)).status).toBe(200);
  });

  it("are restored while others write, as a whole", async () => {
    for (let i = 0; i < 20; i++) await createCustomer(`${i}@example.com`);
    await save("twenty");
    let isOver = false;
    let count = 0;
    const acknowledged: { id: string; began: number }[] = [];
    const writer = async (of: Api) => {
      while (!isOver) {
        const began = performance.now();
        const { status, body } = await of("POST", "/v1/customers", { email: `w${count++}@example.com` });
        if (status === 201) acknowledged.push({ id: body.id, began });
        else expect(body.code).toBe("unavailable");
      }
    };
    const writers = [api, other, api, other].map(writer);
    for (let round = 0; round < 5; round++) expect([200, 503]).toContain((await restore("twenty")).status);
    const restored = await restore("twenty");
    expect(restored.status).toBe(200);
    const restoredAt = performance.now();
    await expect.poll(() => acknowledged.some(({ began }) => began > restoredAt)).toBe(true);
    isOver = true;
    await Promise.all(writers);
    for (const { id, began } of acknowledged.filter((one) => one.began > restoredAt).slice(0, 20)) {
      expect([id, began > restoredAt, (await api("GET", `/v1/customers/${id}`)).status]).toEqual([id, true, 200]);
    }
    const { data } = (await api("GET", "/v1/customers?query=%40example.com&limit=100")).body;
    expect(data.filter(({ email }: { email: string }) => /^\d+@/.test(email))).toHaveLength(20);
  });

  it("are rejected in live mode, with an unknown name, a bad name, and without their scope", async () => {
    expect((await live("POST", SNAPSHOTS, { name: "base" })).body.code).toBe("sandbox_only");
    expect((await live("GET", SNAPSHOTS)).body.code).toBe("sandbox_only");
    expect((await live("POST", `${SNAPSHOTS}/base/restore`)).body.code).toBe("sandbox_only");
    await save("two-customers");
    for (const response of [await restore("two-custmers"), await other("DELETE", `${SNAPSHOTS}/two-custmers`)]) {
      expect(response).toMatchObject({ status: 404, body: { code: "not_found" } });
      expect(response.body.detail).toBe('No snapshot has the name "two-custmers". Did you mean two-customers?');
    }
    for (const name of ["", " ", "a b", "-a", "../a", "x".repeat(65), 5, null, undefined]) {
      expect((await save(name)).status, String(name)).toBe(400);
    }
    expect((await save("x".repeat(64))).status).toBe(200);
    const { key } = (await api("POST", "/v1/api_keys", { scopes: ["sandbox:read"] })).body;
    const reader = apiOf(nodes[0]!.baseUrl, key);
    expect((await reader("GET", SNAPSHOTS)).status).toBe(200);
    expect((await reader("POST", SNAPSHOTS, { name: "base" })).body.required_scope).toBe("sandbox:write");
  });

  it("are limited in number", async () => {
    for (let i = 0; i < MAX_SNAPSHOTS; i++) expect((await save(`state-${i}`)).status).toBe(200);
    expect(await save("another")).toMatchObject({ status: 409, body: { code: "snapshot_limit" } });
    expect((await save("state-3")).status).toBe(200);
    await api("DELETE", `${SNAPSHOTS}/state-7`);
    expect((await save("another")).status).toBe(200);
  });

  // An SQLite file has one process, so that the test cannot fill it.
  if (engine === "PostgreSQL") {
    it("are limited in size", async () => {
      await server!.query(
        `INSERT INTO orders (environment, id, amount, currency, status, metadata, created)
         SELECT v.id, 'ord_' || n, 1, 'EUR', 'pending', '{}', 1
         FROM environments v, generate_series(0, ${MAX_OBJECTS}) n WHERE v.name = 'sandbox'`,
        [],
        url,
      );
      expect(await save("full")).toMatchObject({
        status: 409,
        body: { code: "snapshot_limit", detail: expect.stringContaining("100,000 objects") },
      });
    });
  }
});
