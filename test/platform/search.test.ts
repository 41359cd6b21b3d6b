import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startScriptedReceiver, type ScriptedReceiver } from "./delivery/support/scripted-receiver.ts";
import { type EmbeddedPlatform, startEmbedded } from "./oauth/support/embedded-platform.ts";
import { type Api, apiOf } from "../support/api.ts";
import { usePostgres } from "../support/postgres.ts";

/** More objects than one request searches. */
const MANY = 2050;

/** A platform with an endpoint, two customers, and an order of one of them with a failed payment. */
interface Scene {
  api: Api;
  search: (list: string, query: string, more?: string) => Promise<Found>;
  endpoint: string;
  ada: { id: string; email: string };
  order: { id: string };
  payment: { id: string };
}

type Found = { id: string; type?: string; path?: string }[];

describe.each(["sqlite", "postgres"])("search on %s", (dialect) => {
  let server: Awaited<ReturnType<typeof usePostgres>> | undefined;
  const newDatabase = async () => {
    if (dialect === "sqlite") return {};
    server ??= await usePostgres();
    return { database: await server.createDatabase(), masterKey: "5a".repeat(32) };
  };
  let receiver: ScriptedReceiver;
  let scene: Scene;
  let api: Api;
  let search: Scene["search"];

  const platforms: EmbeddedPlatform[] = [];

  async function openScene(): Promise<Scene> {
    const platform = await startEmbedded({ allowPrivateTargets: true, ...(await newDatabase()) });
    platforms.push(platform);
    const api = apiOf(platform.baseUrl, platform.sandboxKey);
    const target = { url: `${receiver.url}/warehouse`, events: ["order.completed"], description: "Stock and shipping" };
    const endpoint = (await api("POST", "/v1/webhook_endpoints", target)).body.id;
    const metadata = { plan: "Team 東京" };
    const ada = (await api("POST", "/v1/customers", { email: "ada@example.com", name: "Ada Byron", metadata })).body;
    await api("POST", "/v1/customers", { email: "bob@example.com", name: "Bob" });
    const order = (await api("POST", "/v1/orders", { amount: 123_456, currency: "EUR", customer: ada.id })).body;
    await api("POST", `/v1/orders/${order.id}/complete`, {});
    const failing = { amount: 99_900, currency: "USD", order: order.id, metadata: { terminal: "Büro 7" } };
    const payment = (await api("POST", "/v1/payments", failing)).body;
    await api("POST", `/v1/payments/${payment.id}/fail`, { failure_code: "card_declined" });
    const search = async (list: string, query: string, more = "") =>
      (await api("GET", `/v1/${list}?query=${encodeURIComponent(query)}${more}`)).body.data as Found;
    return { api, search, endpoint, ada, order, payment };
  }

  beforeAll(async () => {
    receiver = await startScriptedReceiver((_request, response) => response.end());
    scene = await openScene();
    ({ api, search } = scene);
  });
  afterAll(async () => {
    await Promise.all(platforms.map((platform) => platform.close()));
    await receiver.close();
    await server?.remove();
  });

  const ids = (found: Found) => found.map(({ id }) => id);

  it.each([
    ["customers", "byron"],
    ["customers", "ADA@EXAMPLE.COM"],
    ["customers", "東京"],
    ["customers", "team\u00a0東京"],
  ])("finds in %s a value that contains %j", async (list, query) => {
    expect(ids(await search(list, query))).toEqual([scene.ada.id]);
  });

  it.each(["1234.56", "1,234.56", "1.234,56", "EUR 1,234.56", "1234.56 eur", "1\u202f234,56"])(
    "finds an order by its formatted amount, %s",
    async (amount) => {
      expect(ids(await search("orders", amount))).toEqual([scene.order.id]);
      const events = await search("events", amount);
      expect(events.map(({ type }) => type)).toEqual(["order.completed", "order.created"]);
    },
  );

  it.each(["999.00", "USD 999", "card_declined", "büro", "failed"])(
    "finds a payment by a value, %s, within a range of time",
    async (query) => {
      expect(ids(await search("payments", query))).toEqual([scene.payment.id]);
      expect(ids(await search("payments", query, "&created_after=2020-01-01T00:00:00Z"))).toEqual([scene.payment.id]);
      expect(await search("payments", query, "&created_before=2020-01-01T00:00:00Z")).toEqual([]);
      expect(await search("payments", query, `&order=ord_${"0".repeat(22)}`)).toEqual([]);
    },
  );

  it.each(["customers", "orders", "payments", "events", "deliveries", "request_logs"])(
    "lists %s created after one time and before another",
    async (list) => {
      const [after, before] = ["created_after=2020-01-01T00:00:00Z", "created_before=2100-01-01T00:00:00Z"];
      const listed = async (range: string) => (await api("GET", `/v1/${list}?${range}`)).body.data as Found;
      await expect.poll(async () => (await listed(`${after}&${before}`)).length).toBeGreaterThan(0);
      expect(await listed("created_after=2100-01-01T00:00:00Z")).toEqual([]);
      expect(await listed("created_before=2020-01-01T00:00:00Z")).toEqual([]);
    },
  );

  it.each([
    ["customers", "metadata"],
    ["customers", "plan"],
    ["customers", "customer"],
    ["events", "livemode"],
    ["orders", "currency"],
  ])("does not find in %s a field name, %s", async (list, query) => {
    expect(await search(list, query)).toEqual([]);
  });

  it("combines with filters and ranges, and a cursor works only with its search", async () => {
    // A shorter text could be part of a random ID.
    const { ada } = scene;
    expect(await search("events", ada.email, "&type=customer.*")).toHaveLength(1);
    expect(await search("events", ada.email, "&type=webhook_endpoint.*")).toHaveLength(0);
    expect(await search("customers", ada.email, "&created_before=2020-01-01T00:00:00Z")).toHaveLength(0);
    const first = (await api("GET", "/v1/customers?query=example.com&limit=1")).body;
    expect([first.data.length, first.has_more]).toEqual([1, true]);
    const cursor = `&cursor=${first.next_cursor}`;
    expect(ids(await search("customers", "example.com", `&limit=1${cursor}`))).toEqual([scene.ada.id]);
    expect((await api("GET", `/v1/customers?query=other&limit=1${cursor}`)).body.code).toBe("invalid_cursor");
  });

  it("finds deliveries by their endpoint, and takes ranges of time", async () => {
    await expect.poll(async () => (await search("deliveries", "stock")).length).toBe(1);
    const [delivery] = await search("deliveries", "WAREHOUSE");
    expect(ids(await search("deliveries", scene.endpoint))).toEqual([delivery!.id]);
    expect(ids(await search("deliveries", delivery!.id))).toEqual([delivery!.id]);
    expect(await search("deliveries", "stock", "&created_after=2020-01-01T00:00:00Z")).toHaveLength(1);
    expect(await search("deliveries", "stock", "&created_before=2020-01-01T00:00:00Z")).toHaveLength(0);
  });

  it.each(["Ada@Example.com", "ada@exam"])(
    "finds by a customer's address, %s, what is about the customer",
    async (text) => {
      const { order, payment } = scene;
      expect(ids(await search("orders", text))).toEqual([order.id]);
      expect(ids(await search("payments", text))).toEqual([payment.id]);
      const about = async (type: string) => (await search("events", text, `&type=${type}`)).map((event) => event.type);
      expect(await about("customer.*")).toEqual(["customer.created"]);
      expect(await about("order.*")).toEqual(["order.completed", "order.created"]);
      expect(await about("payment.*")).toEqual(["payment.failed", "payment.created"]);
      await expect.poll(async () => (await search("deliveries", text)).length).toBe(1);
      for (const [list, status] of [
        ["orders", "pending"],
        ["payments", "pending"],
        ["deliveries", "canceled"],
      ] as const) {
        expect(await search(list, text, `&status=${status}`)).toEqual([]);
        expect(await search(list, text, "&created_before=2020-01-01T00:00:00Z")).toEqual([]);
        expect(await search(list, "bob@example.com")).toEqual([]);
      }
    },
  );

  it.each(["1,234.56", "EUR 1234.56"])("finds deliveries by the amount of their event's object, %s", async (amount) => {
    await expect.poll(async () => (await search("deliveries", amount)).length).toBe(1);
  });

  it("finds requests by a part of their path", async () => {
    const found = await search("request_logs", "/COMPLETE");
    expect(found.map(({ path }) => path)).toEqual([`/v1/orders/${scene.order.id}/complete`]);
  });

  it("finds objects by any of several IDs", async () => {
    const { ada, order, payment } = scene;
    const [bob] = await search("customers", "bob@example.com");
    expect(ids(await search("customers", `${ada.id},${bob!.id},cus_${"0".repeat(22)}`))).toEqual([bob!.id, ada.id]);
    expect(ids(await search("customers", `${ada.id}, ${bob!.id}`, "&email=ada@example.com"))).toEqual([ada.id]);
    expect(ids(await search("orders", `${bob!.id},${ada.id}`))).toEqual([order.id]);
    const events = await search("events", `${order.id},${payment.id}`);
    expect(events.map(({ type }) => type)).toEqual(expect.arrayContaining(["order.completed", "payment.failed"]));
    // Of customers, what is about their orders' payments, too.
    const types = (await search("events", `${ada.id},${bob!.id}`)).map(({ type }) => type);
    expect(types).toEqual(expect.arrayContaining(["customer.created", "order.completed", "payment.failed"]));
    const deliveries = ids(await search("deliveries", scene.endpoint));
    expect(deliveries).toHaveLength(1);
    expect(ids(await search("deliveries", ids(events).join(",")))).toEqual(deliveries);
  });

  it("finds the customer with the exact email address first, then other matches", async () => {
    const { api, search, ada } = await openScene();
    const contact = { email: "carl@example.com", metadata: { contact: "ada@example.com" } };
    const carl = (await api("POST", "/v1/customers", contact)).body.id as string;
    expect(ids(await search("customers", "Ada@example.com"))).toEqual([ada.id, carl]);
    expect(ids(await search("customers", ada.email, "&limit=2"))).toEqual([ada.id, carl]);
    const first = (await api("GET", `/v1/customers?query=${ada.email}&limit=1`)).body;
    expect([ids(first.data), first.has_more]).toEqual([[ada.id], true]);
    expect(ids(await search("customers", ada.email, `&limit=1&cursor=${first.next_cursor}`))).toEqual([carl]);
    expect(ids(await search("customers", ada.email, "&email=carl@example.com"))).toEqual([carl]);
    expect(ids(await search("customers", ada.email, "&email=bob@example.com"))).toEqual([]);
  });

  it("finds in events a text with quotes, backslashes and several spaces", async () => {
    const { api, search } = await openScene();
    const data = { note: 'Say  "hi"\nto Ada\\Bob' };
    const { id } = (await api("POST", "/v1/events", { type: "order.created", data })).body;
    for (const query of ['"HI" to', 'say "hi"', "ada\\bob"]) expect(ids(await search("events", query))).toEqual([id]);
    expect(ids(await search("events", "note"))).toEqual([]);
  });

  it.each(["", " ", "x".repeat(2701)])("rejects a search for %j", async (query) => {
    const { status, body } = await api("GET", `/v1/customers?query=${encodeURIComponent(query)}`);
    expect([status, body.errors?.[0]?.pointer]).toEqual([400, "?query"]);
  });

  it("a request searches a bounded number of items, and finds IDs however old they are", async () => {
    const { api, search, ada, order } = await openScene();
    const [event] = await search("events", order.id);
    for (let start = 0; start < MANY; start += 205) {
      const create = () => api("POST", "/v1/orders", { amount: 1, currency: "EUR" });
      const replies = await Promise.all(Array.from({ length: 205 }, create));
      expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 201));
    }
    const page = (await api("GET", "/v1/orders?query=1234.56")).body;
    expect([page.data, page.has_more]).toEqual([[], true]);
    expect(ids(await search("orders", "1234.56", `&cursor=${page.next_cursor}`))).toEqual([order.id]);
    expect(ids(await search("orders", order.id))).toEqual([order.id]);
    expect(ids(await search("orders", `${order.id},ord_${"0".repeat(22)}`))).toEqual([order.id]);
    expect(ids(await search("orders", ada.id))).toEqual([order.id]);
    // The two orders of a page with one more, each once.
    const second = (await api("POST", "/v1/orders", { amount: 2, currency: "EUR", customer: ada.id })).body;
    const before = `&created_before=2100-01-01T00:00:00Z&limit=1`;
    const named = (await api("GET", `/v1/orders?query=${ada.email}${before}`)).body;
    expect(ids(named.data)).toEqual([second.id]);
    expect(ids(await search("orders", ada.email))).toEqual([second.id, order.id]);
    const types = (await search("events", ada.email)).map(({ type }) => type);
    expect(types).toEqual(expect.arrayContaining(["order.created", "payment.failed", "customer.created"]));
    const rest = await api("GET", `/v1/events?query=${ada.email}&limit=3`);
    expect(ids(await search("events", ada.email, `&cursor=${rest.body.next_cursor}`))).not.toEqual(
      expect.arrayContaining([rest.body.data[0].id]),
    );
    expect(ids(await search("events", event!.id))).toEqual([event!.id]);
    expect((await search("events", order.id)).map(({ type }) => type)).toEqual(["order.completed", "order.created"]);
  });
});
