import { EventSource } from "eventsource";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { type FollowedStream, followStream } from "./delivery/support/event-stream.ts";
import { type HostedPlatform, hostPlatform } from "./delivery/support/hosted-platform.ts";
import { type Api, apiOf } from "../support/api.ts";
import { startLine } from "../support/line.ts";

let platform: HostedPlatform;
let opened: FollowedStream[];
beforeEach(async () => {
  platform = await hostPlatform();
  opened = [];
});
afterEach(async () => {
  for (const stream of opened) stream.close();
  await platform.close();
});

/** Opens a stream, and resolves once the platform has sent its start position. */
async function follow(query: Parameters<typeof followStream>[2] = {}, key = platform.sandboxKey) {
  const stream = await followStream(platform.baseUrl, key, query);
  opened.push(stream);
  return stream;
}

async function makeOrders(api: Api, count: number): Promise<void> {
  for (let amount = 1; amount <= count; amount++) await api("POST", "/v1/orders", { amount, currency: "EUR" });
}

const bodyOf = async (id: string, key: string) =>
  (await fetch(`${platform.baseUrl}/v1/events/${id}`, { headers: { Authorization: `Bearer ${key}` } })).text();

describe("a stream of events", () => {
  it("starts with its position, then sends new events in order, as the stored bytes", async () => {
    await makeOrders(platform.api, 1);
    const stream = await follow();
    const { event, id, data } = stream.messages[0]!;
    expect([event, JSON.parse(data)]).toEqual(["ready", { cursor: id }]);
    expect(id).toMatch(/^evt_/);
    await makeOrders(platform.api, 3);
    await stream.until(4);
    const reported = stream.messages.slice(1);
    expect(reported.map(({ data }) => JSON.parse(data).data.object.amount)).toEqual([1, 2, 3]);
    expect(reported.map(({ event }) => event)).toEqual([undefined, undefined, undefined]);
    expect(reported[2]!.data).toBe(await bodyOf(reported[2]!.id!, platform.sandboxKey));
  });

  it("resumes after an ID, without missing or repeating events", async () => {
    const first = await follow();
    await Promise.all(Array.from({ length: 20 }, () => makeOrders(platform.api, 10)));
    await first.until(201);
    const ids = first.messages.slice(1).map(({ id }) => id);
    const second = await follow({ after: ids[49]! });
    await second.until(151);
    expect(second.messages.slice(1).map(({ id }) => id)).toEqual(ids.slice(50));
    const third = await follow({ after: "-3600" });
    await third.until(201);
    expect(third.messages.slice(1).map(({ id }) => id)).toEqual(ids);
  });

  it("resumes after Last-Event-ID, whatever its first request was", async () => {
    await makeOrders(platform.api, 3);
    const first = await follow({ after: "-3600" });
    await first.until(4);
    const ids = first.messages.slice(1).map(({ id }) => id!);
    const second = await follow({ after: "-3600", lastEventId: ids[1]! });
    await second.until(2);
    expect(second.messages.map(({ id }) => id)).toEqual(ids.slice(1));
    const wrong = await platform.api("GET", "/v1/events/stream", undefined, { "Last-Event-ID": "42" });
    expect([wrong.status, wrong.body.code]).toEqual([400, "invalid_header"]);
    expect(wrong.body.detail).toContain("Last-Event-ID");
  });

  it("reports a gap if the last received event was removed", async () => {
    const removed = "evt_0351NTbofXpcv9qUI5p25z";
    const stream = await follow({ lastEventId: removed });
    await makeOrders(platform.api, 1);
    await stream.until(3);
    const [, gap, event] = stream.messages;
    expect(gap).toMatchObject({ event: "gap", id: undefined });
    expect(JSON.parse(gap!.data)).toEqual({ from: removed, to: expect.stringMatching(/^evt_/) });
    expect(JSON.parse(event!.data).type).toBe("order.created");
  });

  it("delivers everything to an EventSource across interrupted connections", async () => {
    const line = await startLine(platform.baseUrl);
    const source = new EventSource(`${line.url}/v1/events/stream`, {
      fetch: (url, init) =>
        fetch(url, { ...init, headers: { ...init?.headers, Authorization: `Bearer ${platform.sandboxKey}` } }),
    });
    onTestFinished(() => source.close());
    const amounts: number[] = [];
    source.addEventListener("message", ({ data }) => amounts.push(JSON.parse(data).data.object.amount));
    let ready = 0;
    source.addEventListener("ready", () => (ready += 1));
    await expect.poll(() => ready).toBe(1);
    // Before the first event, then after several.
    line.cut();
    await makeOrders(platform.api, 2);
    await expect.poll(() => amounts).toEqual([1, 2]);
    line.cut();
    await makeOrders(platform.api, 3);
    await expect.poll(() => amounts).toEqual([1, 2, 1, 2, 3]);
    expect(ready).toBe(3);
  });

  it("sends only the requested types", async () => {
    const stream = await follow({ type: "customer.*" });
    await makeOrders(platform.api, 2);
    await platform.api("POST", "/v1/customers", { email: "ada@example.com" });
    await stream.until(2);
    expect(JSON.parse(stream.messages[1]!.data).type).toBe("customer.created");
  });

  it.each(["sandbox", "live"] as const)("sends replays under their own IDs: %s", async (environment) => {
    const api = environment === "live" ? platform.live : platform.api;
    const key = environment === "live" ? await liveKey() : platform.sandboxKey;
    const stream = await follow({}, key);
    await makeOrders(api, 1);
    await stream.until(2);
    const { id } = stream.messages[1]!;
    expect((await api("POST", `/v1/events/${id}/replay`)).status).toBe(201);
    await stream.until(3);
    expect(stream.messages[2]).toEqual({
      event: undefined,
      id: expect.stringMatching(/^evt_/),
      data: stream.messages[1]!.data,
    });
    expect(stream.messages[2]!.id).not.toBe(id);
    const later = await follow({ after: stream.messages[2]!.id! }, key);
    await makeOrders(api, 1);
    await later.until(2);
    expect(later.messages[1]!.id).not.toBe(id);
  });

  it("contains nothing from the other environment", async () => {
    const stream = await follow();
    await makeOrders(platform.live, 1);
    await makeOrders(platform.api, 1);
    await stream.until(2);
    expect(JSON.parse(stream.messages[1]!.data).livemode).toBe(false);
  });

  it("ends when its key is revoked, and when the platform stops", async () => {
    const { body: key } = await platform.api("POST", "/v1/api_keys", { scopes: ["events:read"] });
    const stream = await follow({}, key.key);
    const other = await follow();
    await platform.api("POST", `/v1/api_keys/${key.id}/revoke`);
    await stream.ended;
    const rejected = await apiOf(platform.baseUrl, key.key)("GET", "/v1/events/stream");
    expect([rejected.status, rejected.body.code]).toEqual([401, "revoked_credential"]);
    await makeOrders(platform.api, 1);
    await other.until(2);
    await Promise.all([platform.stop(), other.ended]);
  });
});

async function liveKey(): Promise<string> {
  return (await platform.live("POST", "/v1/api_keys", { scopes: ["events:read"] })).body.key;
}
