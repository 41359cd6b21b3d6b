import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { startScriptedReceiver } from "./delivery/support/scripted-receiver.ts";
import { openDatabase } from "../../src/platform/storage/open-database.ts";
import { followStream } from "./delivery/support/event-stream.ts";
import { type HostedPlatform, hostPlatform } from "./delivery/support/hosted-platform.ts";
import { advanceClock } from "../support/advance-clock.ts";
import { type Api, apiOf } from "../support/api.ts";
import { type ServedPlatform, serveNode, servePlatform, startNode } from "../support/platform.ts";
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
      nodes = [await serveNode(url), await startNode(url)];
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

  it("survive resets, are replaced by a snapshot of the same name, and can be deleted", async () => {
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

  it("are restored atomically while other requests write", async () => {
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
    await expect.poll(async () => (await restore("twenty")).status).toBe(200);
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
      expect(response.body.detail).toBe('The snapshot "two-custmers" does not exist. Did you mean two-customers?');
    }
    for (const name of ["", " ", "a b", "-a", "../a", "x".repeat(65), 5, null, undefined]) {
      expect((await save(name)).status, String(name)).toBe(400);
    }
    expect((await save("a b")).body.errors).toEqual([
      {
        pointer: "/name",
        code: "invalid_format",
        detail:
          "must be a name of 1 to 64 letters, digits, dots, hyphens and underscores that starts with a letter or digit",
      },
    ]);
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

  it("are limited in number, however many are saved at once", async () => {
    const names = Array.from({ length: MAX_SNAPSHOTS + 4 }, (_, index) => `at-once-${index}`);
    const saved = await Promise.all(
      names.map((name, index) => (index % 2 === 0 ? api : other)("POST", SNAPSHOTS, { name })),
    );
    expect(saved.filter(({ status }) => status === 200)).toHaveLength(MAX_SNAPSHOTS);
  });
});

describe.each(["SQLite", "PostgreSQL"])("a large sandbox on %s", (engine) => {
  const OBJECTS = 30_000;
  let server: Awaited<ReturnType<typeof usePostgres>> | undefined;
  let url: string;
  let platform: HostedPlatform;

  /** Adds orders while the platform is stopped. */
  const fill = async (prefix: string, count: number) => {
    await platform.stop();
    const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
    const database = await openDatabase({ database: url, version: "test", log, statementMilliseconds: 60_000 });
    await database.write((tx) =>
      tx.run(
        `INSERT INTO orders (environment, id, amount, currency, status, metadata, created)
         WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < CAST($1 AS INTEGER))
         SELECT v.id, $2 || CAST(n AS TEXT), 1, 'EUR', 'pending', '{}', 1
         FROM environments v JOIN numbers ON true WHERE v.name = 'sandbox'`,
        [count, prefix],
      ),
    );
    await database.close();
    await platform.restart();
  };
  beforeAll(async () => {
    server = engine === "SQLite" ? undefined : await usePostgres();
    const database = await server?.createDatabase();
    // A busy machine needs longer than the time that requests have.
    const settings = { requestSeconds: 1e6, ...(database !== undefined && { database, masterKey: "5a".repeat(32) }) };
    platform = await hostPlatform(settings);
    url = database ?? platform.database;
    await fill("ord_00", OBJECTS);
  });
  afterAll(async () => {
    await platform.close();
    await server?.remove();
  });

  const save = (name: string) => platform.api("POST", SNAPSHOTS, { name });
  const restore = (name: string) => platform.api("POST", `${SNAPSHOTS}/${name}/restore`);

  it("is saved and restored while other requests are served", async () => {
    for (const change of [save, restore]) {
      let isOver = false;
      const changed = change("large").finally(() => (isOver = true));
      let served = 0;
      // The platform is in this process, so that a change in one piece leaves no time for any of them.
      for (; !isOver; served += 1) expect((await fetch(`${platform.baseUrl}/healthz`)).status).toBe(200);
      expect((await changed).status).toBe(200);
      expect(served, change.name).toBeGreaterThan(10);
    }
    expect((await platform.api("GET", "/v1/orders?limit=1")).body.data[0].id).toMatch(/^ord_00/);
  });

  it("is saved atomically while other requests write", async () => {
    let isOver = false;
    const write = async () => {
      for (let n = 0; !isOver; n += 1) {
        const customer = await platform.api("POST", "/v1/customers", { email: `${n}@example.com` });
        await platform.api("POST", "/v1/orders", { amount: 1, currency: "EUR", customer: customer.body.id });
      }
    };
    const written = write();
    await expect.poll(async () => (await platform.api("GET", "/v1/customers")).body.data.length).toBeGreaterThan(1);
    const saved = await save("busy");
    isOver = true;
    await written;
    expect(saved.status).toBe(200);
    expect((await restore("busy")).status).toBe(200);
    const idsOf = async (list: string, idOf: (item: { id: string; customer: string | null }) => string | null) => {
      const ids: string[] = [];
      for (let cursor: string | null = ""; cursor !== null;) {
        const after: string = cursor === "" ? "" : `&cursor=${cursor}`;
        const { body } = await platform.api("GET", `/v1/${list}?limit=100${after}`);
        const found = body.data.map(idOf).filter((id: string | null) => id !== null);
        ids.push(...found);
        cursor = found.length === 0 ? null : body.next_cursor;
      }
      return ids;
    };
    // Each customer is followed by an order, the last one perhaps not yet.
    const customers = await idsOf("customers", ({ id }) => id);
    const ordered = await idsOf("orders", ({ customer }) => customer);
    expect(ordered.length).toBeGreaterThan(0);
    expect([customers, customers.slice(1)]).toContainEqual(ordered);
  });

  it("is not saved if it has more than 100,000 objects", async () => {
    await fill("ord_000", MAX_OBJECTS - OBJECTS);
    await platform.api("POST", "/v1/orders", { amount: 1, currency: "EUR" });
    expect(await save("full")).toMatchObject({
      status: 409,
      body: { code: "snapshot_limit", detail: expect.stringContaining("100,000 objects") },
    });
  });
});
