import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type HostedPlatform, hostPlatform } from "../delivery/support/hosted-platform.ts";
import { type Api, apiOf } from "../support/api.ts";

let platform: HostedPlatform;
let opened: AbortController[];
beforeEach(async () => {
  platform = await hostPlatform();
  opened = [];
});
afterEach(async () => {
  for (const controller of opened) controller.abort();
  await platform.close();
});

interface Message {
  event: string;
  id: string | undefined;
  data: string;
}

interface OpenStream {
  /** What came, `ready` first. */
  messages: Message[];
  until(count: number): Promise<void>;
  /** Resolves when the platform ends it. */
  ended: Promise<void>;
}

/** Follows events; resolves once the platform has said where it begins. */
async function follow(query = "", key = platform.sandboxKey): Promise<OpenStream> {
  const controller = new AbortController();
  opened.push(controller);
  const reply = await fetch(`${platform.baseUrl}/v1/events/stream${query}`, {
    headers: { Authorization: `Bearer ${key}` },
    signal: controller.signal,
  });
  expect([reply.status, reply.headers.get("content-type")]).toEqual([200, "text/event-stream; charset=utf-8"]);
  const messages: Message[] = [];
  const read = async () => {
    let rest = "";
    for await (const chunk of reply.body!.pipeThrough(new TextDecoderStream())) {
      const parts = (rest + chunk).split("\n\n");
      rest = parts.pop()!;
      for (const part of parts) {
        const fields = new Map(part.split("\n").map((line) => line.split(/: (.*)/s) as [string, string]));
        const data = fields.get("data");
        if (data !== undefined) messages.push({ event: fields.get("event")!, id: fields.get("id"), data });
      }
    }
  };
  const ended = read();
  ended.catch(() => {});
  const until = (count: number) => vi.waitFor(() => expect(messages.length).toBeGreaterThanOrEqual(count), 10_000);
  await until(1);
  return { messages, until, ended };
}

async function makeOrders(api: Api, count: number): Promise<void> {
  for (let amount = 1; amount <= count; amount++) await api("POST", "/v1/orders", { amount, currency: "EUR" });
}

const bodyOf = async (id: string, key: string) =>
  (await fetch(`${platform.baseUrl}/v1/events/${id}`, { headers: { Authorization: `Bearer ${key}` } })).text();

describe("a stream of events", () => {
  it("begins with its place, and tells what happens then, in order, as the stored bytes", async () => {
    await makeOrders(platform.api, 1);
    const stream = await follow();
    expect(JSON.parse(stream.messages[0]!.data)).toEqual({ cursor: expect.stringMatching(/^evt_/) });
    await makeOrders(platform.api, 3);
    await stream.until(4);
    const told = stream.messages.slice(1);
    expect(told.map(({ data }) => JSON.parse(data).data.object.amount)).toEqual([1, 2, 3]);
    expect(told.map(({ event }) => event)).toEqual(["event", "event", "event"]);
    expect(told[2]!.data).toBe(await bodyOf(told[2]!.id!, platform.sandboxKey));
  });

  it("goes on behind an id, so that nothing is missed and nothing comes twice", async () => {
    const first = await follow();
    await makeOrders(platform.api, 200);
    await first.until(201);
    const ids = first.messages.slice(1).map(({ id }) => id);
    const second = await follow(`?after=${ids[49]}`);
    await second.until(151);
    expect(second.messages.slice(1).map(({ id }) => id)).toEqual(ids.slice(50));
    const third = await follow("?after=-3600");
    await third.until(201);
    expect(third.messages.slice(1).map(({ id }) => id)).toEqual(ids);
  });

  it("tells of the types that are asked for alone", async () => {
    const stream = await follow("?type=customer.*");
    await makeOrders(platform.api, 2);
    await platform.api("POST", "/v1/customers", { email: "ada@example.com" });
    await stream.until(2);
    expect(JSON.parse(stream.messages[1]!.data).type).toBe("customer.created");
  });

  it.each(["sandbox", "live"] as const)("tells of replays under their own ids: %s", async (environment) => {
    const api = environment === "live" ? platform.live : platform.api;
    const key = environment === "live" ? await liveKey() : platform.sandboxKey;
    const stream = await follow("", key);
    await makeOrders(api, 1);
    await stream.until(2);
    const { id } = stream.messages[1]!;
    expect((await api("POST", `/v1/events/${id}/replay`)).status).toBe(201);
    await stream.until(3);
    expect(stream.messages[2]).toEqual({
      event: "replay",
      id: expect.stringMatching(/^evt_/),
      data: stream.messages[1]!.data,
    });
    expect(stream.messages[2]!.id).not.toBe(id);
    const later = await follow(`?after=${stream.messages[2]!.id}`, key);
    await makeOrders(api, 1);
    await later.until(2);
    expect(later.messages[1]!.id).not.toBe(id);
  });

  it("knows nothing of the other environment", async () => {
    const stream = await follow();
    await makeOrders(platform.live, 1);
    await makeOrders(platform.api, 1);
    await stream.until(2);
    expect(JSON.parse(stream.messages[1]!.data).livemode).toBe(false);
  });

  it("ends when its key is revoked, and when the platform stops", async () => {
    const { body: key } = await platform.api("POST", "/v1/api_keys", { scopes: ["events:read"] });
    const stream = await follow("", key.key);
    const other = await follow();
    await platform.api("POST", `/v1/api_keys/${key.id}/revoke`);
    await stream.ended;
    const refused = await apiOf(platform.baseUrl, key.key)("GET", "/v1/events/stream");
    expect([refused.status, refused.body.code]).toEqual([401, "revoked_credential"]);
    await makeOrders(platform.api, 1);
    await other.until(2);
    await Promise.all([platform.stop(), other.ended]);
  });
});

async function liveKey(): Promise<string> {
  return (await platform.live("POST", "/v1/api_keys", { scopes: ["events:read"] })).body.key;
}
