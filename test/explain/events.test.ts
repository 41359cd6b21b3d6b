import { beforeEach, describe, expect, it } from "vitest";
import type { Explanation } from "../../src/cli/explanation.ts";
import { advanceClock } from "../support/advance-clock.ts";
import { apiOf } from "../support/api.ts";
import { freePort } from "../support/free-port.ts";
import { startListener } from "../support/listener.ts";
import { explained, plain } from "./support/explained.ts";

/** The statuses of the next responses. Afterwards the receiver responds with 200. */
const statuses: number[] = [];
const world = explained((_request, response) => {
  const status = statuses.shift() ?? 200;
  response.writeHead(status).end(status === 200 ? "ok" : "the warehouse is closed");
});
beforeEach(async () => {
  await world.clear();
  statuses.length = 0;
});

const DELIVERED = { code: "delivered", action: null, fix: null };
const succeeded = (event: string, count = 1) =>
  expect.poll(async () => (await world.deliveries(`event=${event}&status=succeeded`)).length).toBe(count);

describe("service why of an event", () => {
  it("names the receiver of a delivered event, and how fast it was", async () => {
    await world.endpoint("/a", undefined, "Billing");
    const { event, deliveries } = await world.order();
    const answer = {
      ...DELIVERED,
      summary: "Delivered to Billing in N ms",
      evidence: 'Attempt 1 at T: 200 in N ms, "ok"',
    };
    const { id } = event.data.object as { id: string };
    for (const about of [event.id, deliveries[0]!.id, id, event.request.id!]) {
      expect(plain(await world.why(about))).toEqual(answer);
    }
    await world.endpoint("/b");
    await world.endpoint("/c", ["*"]);
    const other = await world.order();
    await succeeded(other.event.id, 3);
    expect(plain(await world.why(other.event.id))).toMatchObject({
      ...DELIVERED,
      summary: "Delivered to all 3 receivers",
    });
  });

  it("says how late an event was delivered, and what failed before", async () => {
    await world.endpoint("/a", undefined, "Billing");
    statuses.push(500, 503);
    const { event } = await world.order();
    await advanceClock(world.api, 600);
    await succeeded(event.id);
    const answer = plain(await world.why(event.id));
    expect(answer).toMatchObject({
      ...DELIVERED,
      summary: expect.stringMatching(/^Delivered to Billing .+ after the event, with attempt 3$/),
      evidence: 'Attempt 3 at T: 200 in N ms, "ok". All attempts: 1 × 500, 1 × 503, 1 × 200',
    });
    const { stdout } = await world.service(["why", event.id, "--json"]);
    const { cause, findings } = JSON.parse(stdout) as Explanation;
    expect(cause).toBe("delivered");
    expect(findings.at(-1)).toMatchObject({ code: "clock_ahead", action: null, fix: null });
  });

  it("names the receiver that failed first, then how many got the event", async () => {
    await world.endpoint("/a", undefined, "Billing");
    await world.endpoint("/b", undefined, "Warehouse");
    statuses.push(500);
    const { event } = await world.order();
    const { stdout } = await world.service(["why", event.id, "--json"]);
    const { findings } = JSON.parse(stdout) as Explanation;
    expect(findings.slice(0, 2).map(({ code }) => code)).toEqual(["receiver_error", "delivered"]);
    expect(findings[0]!.evidence).toContain('"the warehouse is closed"');
  });

  it("says after how many attempts the delivery was canceled", async () => {
    await world.endpoint("/a", undefined, "Billing");
    statuses.push(500);
    const { deliveries } = await world.order();
    const { id } = deliveries[0]!;
    await world.api("POST", `/v1/deliveries/${id}/cancel`);
    expect(plain(await world.why(id))).toEqual({
      code: "delivery_canceled",
      summary: "The delivery to Billing was canceled after 1 attempt",
      evidence: 'Attempt 1 at T: 500 in N ms, "the warehouse is closed"',
      action: "Retry, if the receiver should get it",
      fix: `service deliveries retry ${id}`,
    });
  });

  it("says that a replay delivered the event, also of the delivery that did not", async () => {
    const endpoint = await world.endpoint("/a", undefined, "Billing");
    statuses.push(500);
    const { event, deliveries } = await world.order();
    const { id } = deliveries[0]!;
    await world.api("POST", `/v1/deliveries/${id}/cancel`);
    await world.api("POST", `/v1/events/${event.id}/replay`, { endpoint });
    await succeeded(event.id);
    expect(plain(await world.why(event.id))).toMatchObject({
      ...DELIVERED,
      summary: "Delivered to Billing by a replay at T, after the earlier delivery was canceled",
    });
    expect(plain(await world.why(id))).toMatchObject({
      code: "delivery_canceled",
      summary:
        "The delivery to Billing was canceled after 1 attempt, and another delivery of the event to it succeeded at T",
      action: null,
      fix: null,
    });
  });

  it("says that nothing subscribes to it, and what the endpoints subscribe to", async () => {
    await world.endpoint("/a", ["customer.*"], "Billing");
    const { event } = await world.order(0);
    expect(plain(await world.why(event.id))).toEqual({
      code: "no_receiver",
      summary: "No endpoint subscribes to order.created, and no listener is connected",
      evidence: "Billing: customer.*. A listener that disconnects before it acknowledges an event leaves no delivery",
      action: "Start a listener before this event, to receive it and later ones",
      fix: expect.stringContaining("service listen --forward-to localhost:3000 --since evt_"),
    });
  });

  it("suggests a listener that receives the event", async () => {
    await world.order(0);
    const { event } = await world.order(0);
    const { fix } = await world.why(event.id);
    const words = fix!.replace("localhost:3000", world.receiver.url).split(" ").slice(2);
    const listener = await startListener(world.env, words);
    await succeeded(event.id);
    await listener.interrupt();
    const [delivery] = await world.deliveries(`event=${event.id}`);
    expect(delivery!.listener).not.toBeNull();
  });

  it("says that its endpoint was disabled when it happened", async () => {
    const endpoint = await world.endpoint("/a", undefined, "Billing");
    await world.api("PATCH", `/v1/webhook_endpoints/${endpoint}`, { status: "disabled" });
    const { event } = await world.order(0);
    expect(plain(await world.why(event.id))).toMatchObject({
      code: "no_receiver",
      summary: "No endpoint got the event: Billing was disabled at T by a user",
      action: "Enable the endpoint, so that the event can be replayed to it",
      fix: `service endpoints enable ${endpoint}`,
    });
  });

  it("says that its endpoint subscribed after it happened", async () => {
    const { event } = await world.order(0);
    await world.endpoint("/a", undefined, "Billing");
    expect(plain(await world.why(event.id))).toMatchObject({
      code: "no_receiver",
      summary: "Billing subscribes to order.created, but was created after the event",
      fix: `service events replay ${event.id}`,
    });
  });

  it("says that its endpoint was disabled, or subscribed to other types, until after it happened", async () => {
    const endpoint = await world.endpoint("/a", undefined, "Billing");
    const update = (change: object) => world.api("PATCH", `/v1/webhook_endpoints/${endpoint}`, change);
    await update({ status: "disabled" });
    const { event } = await world.order(0);
    await update({ status: "enabled" });
    expect(plain(await world.why(event.id))).toMatchObject({
      summary: "Billing subscribes to order.created, but was disabled when the event happened",
      action: "Replay the event",
      fix: `service events replay ${event.id}`,
    });
    await update({ events: ["customer.*"] });
    const { event: other } = await world.order(0);
    await update({ events: ["order.*"] });
    expect(plain(await world.why(other.id))).toMatchObject({
      summary: "Billing subscribes to order.created now, but did not when the event happened",
    });
  });

  it("says that a listener left it out, or is gone", async () => {
    const listener = await startListener(world.env, ["--forward-to", world.receiver.url, "--events", "customer.*"]);
    const { event } = await world.order(0);
    expect(plain(await world.why(event.id))).toMatchObject({
      code: "no_receiver",
      summary: "No endpoint subscribes to order.created, nor does the connected listener",
      evidence: "The listener subscribes to customer.*",
      action: "Restart the listener with order.created in --events, then replay the event",
      fix: `service events replay ${event.id}`,
    });
    await listener.interrupt();
    await expect.poll(async () => (await world.api("GET", "/v1/statistics")).body.listeners).toBe(0);
    expect(plain(await world.why(event.id))).toMatchObject({
      code: "no_receiver",
      summary: "No endpoint subscribes to order.created, and no listener is connected",
    });
  });

  it("does not say that a listener ignored an event which it still forwards", async () => {
    const url = `http://127.0.0.1:${await freePort()}/hooks`;
    const listener = await startListener(world.env, ["--forward-to", url, "--retries", "10"]);
    const { event } = await world.order(0);
    expect(plain(await world.why(event.id))).toMatchObject({
      code: "no_receiver",
      summary: "The connected listener has not reported a result for the event yet",
      evidence: "It may still be forwarding it; or its --where excludes it, or it has no --forward-to",
      action: "Look at the output of the listener",
      fix: null,
    });
    await listener.kill();
    await expect.poll(async () => (await world.api("GET", "/v1/statistics")).body.listeners).toBe(0);
    expect(plain(await world.why(event.id))).toMatchObject({
      code: "no_receiver",
      evidence: "There is no endpoint. A listener that disconnects before it acknowledges an event leaves no delivery",
    });
  });

  it("says what a listener forwarded to, and replays what it did not deliver", async () => {
    const port = await freePort();
    const listener = await startListener(world.env, ["--forward-to", `http://127.0.0.1:${port}/a`, "--retries", "0"]);
    const { event } = await world.order(0);
    await expect.poll(async () => (await world.deliveries(`event=${event.id}&status=failed`)).length).toBe(1);
    await listener.interrupt();
    expect(plain(await world.why(event.id))).toMatchObject({
      code: "connection_refused",
      summary: `No server listens at 127.0.0.1:${port}`,
      action: "Start your application there, then replay the event",
      fix: `service events replay ${event.id}`,
    });
  });

  it("mentions the replay of an event that was delivered before", async () => {
    const endpoint = await world.endpoint("/a", undefined, "Billing");
    const { event } = await world.order();
    const replay = await world.api("POST", `/v1/events/${event.id}/replay`, { endpoint });
    await succeeded(event.id, 2);
    const answer = { ...DELIVERED, summary: "Delivered to Billing in N ms; the replay at T succeeded too" };
    expect(plain(await world.why(event.id))).toMatchObject(answer);
    expect(plain(await world.why(replay.headers.get("request-id")!))).toMatchObject(answer);
  });
});

describe("service why of a request", () => {
  it("names the rejected fields", async () => {
    const rejected = await world.api("POST", "/v1/orders", { amount: -1, currency: "EUR" });
    const id = rejected.headers.get("request-id")!;
    expect(plain(await world.why(id))).toMatchObject({
      code: "request_failed",
      summary: expect.stringMatching(/^The API request failed with 400 invalid_request: amount/),
      evidence: "POST /v1/orders, /amount must be at least 0",
      action: "Look at the request and its response, then correct the code that sends it",
      fix: `service logs get ${id}`,
    });
  });

  it("does not suggest a login for a key that was revoked", async () => {
    const { body: key } = await world.api("POST", "/v1/api_keys", { name: "old", scopes: ["orders:read"] });
    await world.api("POST", `/v1/api_keys/${key.id}/revoke`);
    const rejected = await apiOf(world.platform.baseUrl, key.key)("GET", "/v1/orders");
    const id = rejected.headers.get("request-id")!;
    expect(plain(await world.why(id))).toMatchObject({
      code: "request_failed",
      summary: expect.stringMatching(/^The API request failed with 401 revoked_credential: /),
      action: "Look at the key, and use another one",
      fix: `service keys get ${key.id}`,
    });
  });

  it("says that requests without a valid credential are not retained", async () => {
    const { headers } = await apiOf(world.platform.baseUrl, "sk_sandbox_wrong")("GET", "/v1/orders");
    const { exitCode, stderr } = await world.service(["why", headers.get("request-id")!]);
    expect(exitCode).not.toBe(0);
    expect(stderr).toContain("Requests without a valid credential are not retained");
  });

  it("says why the request caused no event", async () => {
    const read = await world.api("GET", "/v1/orders");
    expect(plain(await world.why(read.headers.get("request-id")!))).toMatchObject({
      code: "no_event",
      summary: "The request only read, so it caused no event",
      evidence: "GET /v1/orders: 200",
    });
    const create = () =>
      world.api("POST", "/v1/orders", { amount: 1, currency: "EUR" }, { "Idempotency-Key": "repeated" });
    const [first, second] = [await create(), await create()];
    expect(second.body).toEqual(first.body);
    expect(plain(await world.why(second.headers.get("request-id")!))).toMatchObject({
      code: "no_event",
      summary: "The request repeated an earlier one with the same idempotency key, so it caused no other event",
    });
  });
});

describe("service why of an endpoint", () => {
  it("says that no event has happened, or none of its types", async () => {
    // Before the clock has passed a second, earlier events are as old as the endpoint.
    await advanceClock(world.api, 2);
    const endpoint = await world.endpoint("/a", ["customer.deleted"], "Billing");
    expect(plain(await world.why(endpoint))).toEqual({
      code: "no_event",
      summary: "No event has happened since Billing was created at T",
      evidence: "It subscribes to customer.deleted",
      action: "Trigger an event that it subscribes to",
      fix: "service trigger customer.deleted",
    });
    await world.order(0);
    expect(plain(await world.why(endpoint))).toEqual({
      code: "no_matching_event",
      summary: "Nothing that Billing subscribes to has happened since it was created: customer.deleted",
      evidence: "Events of other types happened: order.created (T)",
      action: "Let the endpoint subscribe to these types too",
      fix: `service endpoints update ${endpoint} --events customer.deleted,order.created`,
    });
    await world.api("POST", `/v1/webhook_endpoints/${endpoint}/ping`, {});
    await expect.poll(async () => (await world.deliveries(`endpoint=${endpoint}&status=succeeded`)).length).toBe(1);
    expect(plain(await world.why(endpoint)).code).toBe("no_matching_event");
    await world.api("PATCH", `/v1/webhook_endpoints/${endpoint}`, { events: ["order.*"] });
    expect(plain(await world.why(endpoint))).toMatchObject({
      code: "no_matching_event",
      summary:
        "Billing got no delivery of order.created, which last happened at T: it was disabled then, or did not subscribe to it",
      fix: expect.stringContaining(`--type order.created --endpoint ${endpoint}`),
    });
  });

  it("says when a user disabled it, and how many deliveries wait", async () => {
    const endpoint = await world.endpoint("/a", undefined, "Billing");
    statuses.push(500);
    await world.order();
    await world.api("PATCH", `/v1/webhook_endpoints/${endpoint}`, { status: "disabled" });
    expect(plain(await world.why(endpoint))).toEqual({
      code: "endpoint_disabled",
      summary: "Billing was disabled at T by a user; 1 delivery is waiting until it is enabled",
      evidence: null,
      action: "Enable the endpoint",
      fix: `service endpoints enable ${endpoint}`,
    });
  });

  it("says that all is well, with the last response, although the clock is ahead", async () => {
    const endpoint = await world.endpoint("/a", undefined, "Billing");
    await advanceClock(world.api, 60);
    await world.order();
    await world.order();
    expect(plain(await world.why(endpoint))).toEqual({
      ...DELIVERED,
      summary: "All 2 attempts of the last hour to Billing succeeded, the last one at T",
      evidence: 'Attempt 1 at T: 200 in N ms, "ok"',
    });
    await advanceClock(world.api, 2 * 3600);
    expect(plain(await world.why(endpoint))).toEqual({
      ...DELIVERED,
      summary: "The last delivery to Billing succeeded at T, and nothing that it subscribes to has happened since",
      evidence: "It subscribes to order.*",
    });
  });

  it("says since when it fails, although its next attempts are hours away", async () => {
    const endpoint = await world.endpoint("/a", undefined, "Billing");
    statuses.push(...Array.from({ length: 40 }, () => 500));
    await world.order();
    await world.order();
    // After 10 attempts, the next one is due in more than 3 hours.
    await advanceClock(world.api, 390 * 60);
    expect(plain(await world.why(endpoint))).toEqual({
      code: "receiver_error",
      summary: "Billing responded with 500; every attempt since T failed, and 2 deliveries are waiting",
      evidence: 'Attempt 10 at T: 500 in N ms, "the warehouse is closed"',
      action: "Find the error in the receiver's log, fix it, then retry",
      fix: `service deliveries retry --pending --endpoint ${endpoint}`,
    });
  });

  it("says that it fails in part, with each kind of failure, until what waits has arrived", async () => {
    const endpoint = await world.endpoint("/a", undefined, "Billing");
    statuses.push(500, 502, 500);
    for (let count = 0; count < 3; count++) await world.order();
    const { event } = await world.order();
    await succeeded(event.id);
    expect(plain(await world.why(endpoint))).toEqual({
      code: "receiver_error",
      summary:
        "Billing fails in part: 3 of the 4 attempts of the last hour failed (2 × 500, 1 × 502), and 3 deliveries are waiting",
      evidence: 'Attempt 1 at T: 500 in N ms, "the warehouse is closed"',
      action: "Find the error in the receiver's log, fix it, then retry",
      fix: `service deliveries retry --pending --endpoint ${endpoint}`,
    });
    await world.service(["deliveries", "retry", "--pending", "--endpoint", endpoint, "--yes"]);
    await expect.poll(async () => (await world.deliveries(`endpoint=${endpoint}&status=succeeded`)).length).toBe(4);
    expect(plain(await world.why(endpoint))).toMatchObject({ action: null, fix: null });
  });
});

it("returns commands for the live environment there", async () => {
  const live = apiOf(world.platform.baseUrl, world.platform.liveKey);
  const url = "https://no-such-host.invalid/hooks";
  const { body } = await live("POST", "/v1/webhook_endpoints", { url, events: ["order.*"] });
  await live("PATCH", `/v1/webhook_endpoints/${body.id}`, { status: "disabled" });
  const env = { SERVICE_API_KEY: world.platform.liveKey };
  const { stdout } = await world.service(["why", body.id, "--live", "--json"], { env });
  const { findings } = JSON.parse(stdout) as Explanation;
  expect(findings[0]).toMatchObject({ code: "endpoint_disabled", fix: `service endpoints enable ${body.id} --live` });
});
