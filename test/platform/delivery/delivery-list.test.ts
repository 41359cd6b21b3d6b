import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type DeliveryBench, startDeliveryBench } from "./support/delivery-bench.ts";

let bench: DeliveryBench;
let createCustomer: DeliveryBench["createCustomer"];
let createEndpoint: DeliveryBench["createEndpoint"];
let delivered: DeliveryBench["delivered"];
let platform: DeliveryBench["platform"];
let remove: DeliveryBench["remove"];

beforeAll(async () => {
  bench = await startDeliveryBench();
  ({ createCustomer, createEndpoint, delivered, platform, remove } = bench);
});
afterAll(() => bench.close());

describe("the list of deliveries", () => {
  it("supports every combination of filters, newest first, in stable pages", async () => {
    const good = await createEndpoint("/200/list");
    const bad = await createEndpoint("/500/list");
    const events: string[] = [];
    for (let i = 0; i < 6; i++) events.unshift(await createCustomer());
    for (const event of events) {
      await delivered(event, good.id);
      await delivered(event, bad.id);
    }
    const list = async (query: string) => (await platform.api("GET", `/v1/deliveries?${query}`)).body;
    const eventsOf = async (query: string) => (await list(query)).data.map(({ event }: { event: string }) => event);

    expect(await eventsOf(`endpoint=${good.id}`)).toEqual(events);
    expect(await eventsOf(`endpoint=${bad.id}`)).toEqual(events);
    expect(await eventsOf(`endpoint=${good.id}&status=succeeded`)).toEqual(events);
    expect(await eventsOf(`endpoint=${good.id}&status=pending`)).toEqual([]);
    expect(await eventsOf(`endpoint=${bad.id}&status=pending`)).toEqual(events);
    expect(await eventsOf(`endpoint=${good.id}&status=retrying`)).toEqual([]);
    expect(await eventsOf(`endpoint=${bad.id}&status=retrying&limit=3`)).toEqual(events.slice(0, 3));
    expect(await eventsOf(`endpoint=${bad.id}&status=retrying&query=${events[1]}`)).toEqual([events[1]]);
    for (const code of ["500", "5xx"]) expect(await eventsOf(`endpoint=${bad.id}&code=${code}`)).toEqual(events);
    for (const code of ["200", "2xx", "503", "none"])
      expect(await eventsOf(`endpoint=${bad.id}&code=${code}`)).toEqual([]);
    expect((await platform.api("GET", "/v1/deliveries?code=many")).status).toBe(400);
    expect(await eventsOf(`endpoint=${bad.id}&receiver=endpoint`)).toEqual(events);
    expect(await eventsOf("receiver=listener")).toEqual([]);
    expect((await eventsOf("status=pending&limit=6")).slice(0, 6)).toEqual(events);
    expect((await list(`event=${events[0]}`)).data).toHaveLength(2);
    expect((await list(`event=${events[0]}&status=pending`)).data).toMatchObject([{ endpoint: bad.id }]);
    expect((await list(`event=${events[0]}&endpoint=${good.id}`)).data).toMatchObject([{ endpoint: good.id }]);
    expect((await list(`event=${events[0]}&endpoint=${good.id}&status=failed`)).data).toEqual([]);
    expect((await list("limit=12")).data[0]).not.toHaveProperty("attempts");
    const last = { last_status_code: 500, last_error: null };
    expect((await list(`endpoint=${bad.id}&status=pending`)).data).toEqual(
      events.map(() => expect.objectContaining(last)),
    );

    const paged: string[] = [];
    for (let cursor: string | null = ""; cursor !== null;) {
      const page = await list(`endpoint=${good.id}&limit=4${cursor === "" ? "" : `&cursor=${cursor}`}`);
      paged.push(...page.data.map(({ event }: { event: string }) => event));
      cursor = page.next_cursor;
    }
    expect(paged).toEqual(events);
    const { next_cursor: cursor } = await list("limit=3&status=pending");
    expect((await platform.api("GET", `/v1/deliveries?limit=3&cursor=${cursor}`)).body.code).toBe("invalid_cursor");
    for (const { id } of [good, bad]) await remove(id);
  });

  it("shows the last attempt's response or failure, and null before it", async () => {
    const { id } = await createEndpoint("/200/last");
    const { body } = await platform.api("PATCH", `/v1/webhook_endpoints/${id}`, { url: "http://127.0.0.1:9/" });
    expect(body.url).toBe("http://127.0.0.1:9/");
    const event = await createCustomer();
    const listed = async () => (await platform.api("GET", `/v1/deliveries?event=${event}&endpoint=${id}`)).body.data[0];
    await expect.poll(async () => (await listed()).attempt_count).toBe(1);
    const refused = { last_status_code: null, last_error: expect.stringContaining("connection_refused") };
    expect(await listed()).toMatchObject(refused);
    expect((await platform.api("GET", `/v1/deliveries/${(await listed()).id}`)).body).toMatchObject(refused);
    await platform.api("PATCH", `/v1/webhook_endpoints/${id}`, { status: "disabled" });
    await remove(id);
  });

  it.each(["endpoint=evt_1", "event=we_1", "status=done", "listener=x", "limit=0"])("rejects ?%s", async (query) => {
    expect((await platform.api("GET", `/v1/deliveries?${query}`)).status).toBe(400);
  });
});
