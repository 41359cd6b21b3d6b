import { afterEach, describe, expect, it } from "vitest";
import type { ReadyFrame } from "../../../src/contract/listen.ts";
import { listenTo } from "./support/listen-socket.ts";
import { receiverOnPlatform } from "./support/receiver-on-platform.ts";
import { advanceClock } from "../../support/advance-clock.ts";

const on = receiverOnPlatform();
const { api } = on;

afterEach(async () => {
  for (const { id } of (await api("GET", "/v1/webhook_endpoints")).body.data) {
    await api("DELETE", `/v1/webhook_endpoints/${id}`);
  }
});

const listen = (query = "") => listenTo(on.platform.baseUrl, on.platform.sandboxKey, query);
const replay = (event: string, body?: object) => api("POST", `/v1/events/${event}/replay`, body);

async function createEndpoint(path: string, events = ["order.*"]): Promise<string> {
  return (await api("POST", "/v1/webhook_endpoints", { url: on.receiver.url + path, events })).body.id;
}

let names = 0;
async function createEvent(): Promise<string> {
  const data = { id: `ord_${names++}` };
  return (await api("POST", "/v1/events", { type: "order.completed", data })).body.id;
}

describe("a replay", () => {
  it("sends the same bytes to every enabled endpoint that subscribes, in new deliveries", async () => {
    await createEndpoint("/one");
    const event = await createEvent();
    await on.receiver.until(1, "/one");
    await createEndpoint("/two", ["order.*"]);
    await createEndpoint("/three", ["customer.*"]);
    const disabled = await createEndpoint("/four");
    await api("PATCH", `/v1/webhook_endpoints/${disabled}`, { status: "disabled" });

    const response = await replay(event);
    expect(response.status).toBe(201);
    expect(response.body).toEqual({
      object: "replay",
      event,
      deliveries: [expect.any(String), expect.any(String)],
      listeners: 0,
    });
    await on.receiver.until(2, "/one");
    await on.receiver.until(1, "/two");
    const bodies = [...on.receiver.at("/one"), ...on.receiver.at("/two")].map(({ body }) => body);
    expect(new Set(bodies).size).toBe(1);
    const { data } = (await api("GET", `/v1/deliveries?event=${event}`)).body;
    expect(data).toHaveLength(3);
    expect(data.map(({ id }: { id: string }) => id)).toEqual(expect.arrayContaining(response.body.deliveries));
    expect(on.receiver.at("/three")).toEqual([]);
    expect(on.receiver.at("/four")).toEqual([]);
  });

  it("is sent only to the given endpoint, whatever it subscribes to", async () => {
    const named = await createEndpoint("/named", ["customer.*"]);
    await createEndpoint("/unnamed");
    const event = await createEvent();
    await on.receiver.until(1, "/unnamed");
    expect((await replay(event, { endpoint: named })).body.deliveries).toHaveLength(1);
    await on.receiver.until(1, "/named");
    expect(on.receiver.at("/unnamed")).toHaveLength(1);
    await api("PATCH", `/v1/webhook_endpoints/${named}`, { status: "disabled" });
    expect((await replay(event, { endpoint: named })).body.code).toBe("endpoint_disabled");
    expect((await replay(event, { endpoint: "we_0000000000000000000000" })).body.errors).toMatchObject([
      { pointer: "/endpoint", code: "unknown" },
    ]);
  });

  it("of a missing event is 404, as in another environment", async () => {
    const event = await createEvent();
    expect((await on.platform.live("POST", `/v1/events/${event}/replay`)).status).toBe(404);
    expect((await replay("evt_nonsense")).status).toBe(404);
  });
});

describe("listeners", () => {
  it("receive replays with the position to resume from, and record each as another attempt", async () => {
    const socket = await listen();
    const event = await createEvent();
    await socket.until(1);
    socket.ack(1);
    await replay(event);
    await socket.until(2);
    socket.ack(2);
    const [original, again] = socket.events;
    expect(again).toMatchObject({ seq: 2, id: event, type: "order.completed", body: original!.body });
    expect(original).not.toHaveProperty("cursor");
    expect(again!.cursor).toMatch(/^evt_/);
    expect(again!.cursor).not.toBe(event);
    await expect
      .poll(async () => (await api("GET", `/v1/deliveries?event=${event}`)).body.data[0]?.attempt_count)
      .toBe(2);
    const { data } = (await api("GET", `/v1/deliveries?event=${event}`)).body;
    expect(data).toMatchObject([{ endpoint: null, listener: expect.stringMatching(/^lsn_/), status: "succeeded" }]);
    const retry = await api("POST", `/v1/deliveries/${data[0].id}/retry`);
    expect([retry.status, retry.body.code]).toEqual([409, "delivery_not_retryable"]);
    expect((await api("GET", `/v1/events/${again!.cursor}`)).status).toBe(404);
    await socket.close();
  });

  it("receive events and replays in order, however they resume", async () => {
    const start = await createEvent();
    const socket = await listen("?window=1024");
    const created: string[] = [];
    for (let i = 0; i < 4; i++) {
      created.push(await createEvent());
      if (i % 2 === 1) {
        await replay(created[0]!);
        await replay(start);
        created.push(created[0]!, start);
      }
    }
    await socket.until(created.length);
    expect(socket.events.map(({ id }) => id)).toEqual(created);
    // A stream from each position contains exactly the events after it.
    const places = socket.events.map(({ id, cursor }) => cursor ?? id);
    for (const [index, place] of places.entries()) {
      const rest = created.slice(index + 1);
      const resumed = await listen(`?after=${place}`);
      await resumed.until(rest.length);
      const next = await createEvent();
      created.push(next);
      await resumed.until(rest.length + 1);
      expect(resumed.events.map(({ id }) => id)).toEqual([...rest, next]);
      await resumed.close();
    }
    await socket.close();
  });

  it("start after a replay if it is the newest item", async () => {
    const event = await createEvent();
    await replay(event);
    const socket = await listen();
    const { cursor } = socket.frames[0] as ReadyFrame;
    await socket.close();
    const next = await createEvent();
    const resumed = await listen(`?after=${cursor}`);
    await resumed.until(1);
    expect(resumed.events.map(({ id }) => id)).toEqual([next]);
    await resumed.close();
  });

  it("receive only the replays of subscribed types, and those since a time", async () => {
    const event = await createEvent();
    const customers = await listen("?events=customer.*");
    await replay(event);
    await api("POST", "/v1/customers", { email: `${names++}@example.com` });
    await customers.until(1);
    expect(customers.events.map(({ type }) => type)).toEqual(["customer.created"]);
    await customers.close();
    await advanceClock(api, 3600);
    await replay(event);
    const recent = await listen("?after=-60");
    await recent.until(1);
    expect(recent.events.map(({ id }) => id)).toEqual([event]);
    await recent.close();
  });
});

describe("an event older than 30 days", () => {
  it("cannot be replayed", async () => {
    const event = await createEvent();
    const endpoint = await createEndpoint("/old");
    await advanceClock(api, 30 * 86_400 - 60);
    expect((await replay(event)).status).toBe(201);
    await advanceClock(api, 120);
    for (const body of [{}, { endpoint }]) {
      const response = await replay(event, body);
      expect([response.status, response.body.code]).toEqual([410, "event_expired"]);
    }
    expect((await replay(await createEvent())).status).toBe(201);
  });
});
