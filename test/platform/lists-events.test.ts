import { beforeAll, describe, expect, it } from "vitest";
import { type Api, apiOf } from "../support/api.ts";
import { kitPlatform } from "../testing/kit.ts";

const platform = kitPlatform();
let api: Api;
let live: Api;
const ids: string[] = [];

beforeAll(async () => {
  api = apiOf(platform.baseUrl, platform.apiKey);
  live = apiOf(platform.baseUrl, platform.liveKey);
  for (let i = 0; i < 45; i++)
    ids.unshift((await api("POST", "/v1/customers", { email: `c${i}@example.com` })).body.id);
});

async function readAll(path: string): Promise<string[]> {
  const found: string[] = [];
  for (let cursor: string | null = ""; cursor !== null;) {
    const page: { data: { id: string }[]; next_cursor: string | null } = (
      await api("GET", cursor === "" ? path : `${path}&cursor=${cursor}`)
    ).body;
    found.push(...page.data.map(({ id }) => id));
    cursor = page.next_cursor;
  }
  return found;
}

describe("lists", () => {
  it("are newest first, in pages of 20", async () => {
    const page = (await api("GET", "/v1/customers")).body;
    expect(page).toMatchObject({ object: "list", has_more: true, next_cursor: expect.any(String) });
    expect(page.data.map(({ id }: { id: string }) => id)).toEqual(ids.slice(0, 20));
  });

  it("contain every row once, for any page size", async () => {
    expect(await readAll("/v1/customers?limit=7")).toEqual(ids);
    expect(await readAll("/v1/customers?limit=45")).toEqual(ids);
    expect(await readAll("/v1/customers?limit=100")).toEqual(ids);
  });

  it("stay consistent for a reader while rows are added and a boundary row is deleted", async () => {
    const first = (await api("GET", "/v1/events?type=customer.created&limit=10")).body;
    const extra = (await api("POST", "/v1/customers", { email: "late@example.com" })).body;
    await api("DELETE", `/v1/customers/${extra.id}`);
    const second = (await api("GET", `/v1/events?type=customer.created&limit=10&cursor=${first.next_cursor}`)).body;
    const received = [...first.data, ...second.data].map(
      (event: { data: { object: { id: string } } }) => event.data.object.id,
    );
    expect(received).toEqual(ids.slice(0, 20));
  });

  it("reject a cursor that was edited, or created for another list, filter or environment", async () => {
    const cursor: string = (await api("GET", "/v1/customers?limit=5")).body.next_cursor;
    const edited = cursor.slice(0, -2) + (cursor.endsWith("AA") ? "BB" : "AA");
    for (const [call, path] of [
      [api, `/v1/customers?cursor=${edited}`],
      [api, "/v1/customers?cursor=nonsense"],
      [api, "/v1/customers?cursor="],
      [api, `/v1/events?cursor=${cursor}`],
      [api, `/v1/customers?email=a@example.com&cursor=${cursor}`],
      [live, `/v1/customers?cursor=${cursor}`],
    ] as const) {
      expect((await call("GET", path)).body, path).toMatchObject({ status: 400, code: "invalid_cursor" });
    }
  });

  it("filter by time", async () => {
    const created = (await api("GET", `/v1/customers/${ids[0]}`)).body.created;
    const later = new Date(Date.parse(created) + 5000).toISOString().slice(0, 19) + "Z";
    const earlier = "2020-01-01T00:00:00Z";
    expect((await api("GET", `/v1/customers?created_before=${earlier}`)).body.data).toEqual([]);
    expect((await api("GET", `/v1/customers?created_after=${later}`)).body.data).toEqual([]);
    expect(await readAll(`/v1/customers?limit=50&created_after=${earlier}&created_before=${later}`)).toHaveLength(45);
  });
});

describe("events", () => {
  it("have the envelope of the specification", async () => {
    const created = await api("POST", "/v1/orders", { amount: 5, currency: "EUR" });
    const event = (await api("GET", `/v1/events?related=${created.body.id}`)).body.data[0];
    expect(event).toEqual({
      id: expect.stringMatching(/^evt_[0-9A-Za-z]{22}$/),
      object: "event",
      type: "order.created",
      created: created.body.created,
      livemode: false,
      data: { object: created.body },
      request: { id: created.headers.get("request-id") },
    });
    expect((await api("GET", `/v1/events/${event.id}`)).body).toEqual(event);
    expect((await live("GET", `/v1/events/${event.id}`)).status).toBe(404);
  });

  it("are filtered by type and by wildcard, page by page", async () => {
    const before = await readAll("/v1/events?type=order.*&limit=100");
    const { id } = (await api("POST", "/v1/orders", { amount: 6, currency: "EUR" })).body;
    await api("POST", `/v1/orders/${id}/complete`);
    const orders = await readAll("/v1/events?type=order.*&limit=1");
    expect(orders).toHaveLength(before.length + 2);
    expect(orders).toEqual([...orders].sort().reverse());
    expect(await readAll("/v1/events?type=order.completed&limit=10")).toHaveLength(1);
    expect(await readAll("/v1/events?type=*&limit=100")).toEqual(await readAll("/v1/events?limit=100"));
  });

  it("suggest the intended type", async () => {
    const response = await api("GET", "/v1/events?type=order.complete");
    expect(response.status).toBe(400);
    expect(response.body.detail).toContain("order.completed");
    expect((await api("GET", "/v1/events?related=hello")).status).toBe(400);
  });

  it("can be created manually only in the sandbox", async () => {
    const data = { id: "pay_x", object: "payment", amount: 1 };
    const created = await api("POST", "/v1/events", { type: "payment.failed", data });
    expect(created).toMatchObject({ status: 201, body: { type: "payment.failed", data: { object: data } } });
    const whole = await api("POST", "/v1/events", {
      type: "customer.updated",
      data: { object: data, previous: { a: 1 } },
    });
    expect(whole.body.data).toEqual({ object: data, previous: { a: 1 } });
    expect((await live("POST", "/v1/events", { type: "payment.failed", data })).body).toMatchObject({
      status: 403,
      code: "sandbox_only",
    });
    const unknown = await api("POST", "/v1/events", { type: "payment.fail", data });
    expect(unknown.body.detail).toContain("payment.failed");
  });
});
