import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HEADERS } from "../../../src/contract/headers.ts";
import { verify } from "../../../src/webhooks/index.ts";
import { freePort } from "../../support/free-port.ts";
import { type DeliveryBench, startDeliveryBench } from "./support/delivery-bench.ts";
import { startScriptedReceiver } from "./support/scripted-receiver.ts";

let bench: DeliveryBench;
let createCustomer: DeliveryBench["createCustomer"];
let createEndpoint: DeliveryBench["createEndpoint"];
let delivered: DeliveryBench["delivered"];
let platform: DeliveryBench["platform"];
let receiver: DeliveryBench["receiver"];
let remove: DeliveryBench["remove"];

beforeAll(async () => {
  bench = await startDeliveryBench();
  ({ createCustomer, createEndpoint, delivered, platform, receiver, remove } = bench);
});
afterAll(() => bench.close());

describe("a delivery", () => {
  it("has the event's exact bytes, a signature, and the headers of the contract", async () => {
    const path = "/200/first";
    const { id, secret } = await createEndpoint(path);
    const event = await createCustomer();
    await receiver.until(1, path);
    const [received] = receiver.at(path);
    expect(received!.method).toBe("POST");
    expect(received!.headers).toMatchObject({
      "content-type": "application/json",
      "user-agent": "Service-Webhooks/1",
      [HEADERS.eventId.toLowerCase()]: event,
      [HEADERS.deliveryAttempt.toLowerCase()]: "1",
      "content-length": String(Buffer.byteLength(received!.body)),
    });
    const header = received!.headers["service-signature"];
    expect(verify({ payload: received!.body, header, secrets: secret }).id).toBe(event);
    const raw = await fetch(`${platform.baseUrl}/v1/events/${event}`, {
      headers: { Authorization: `Bearer ${platform.sandboxKey}` },
    });
    expect(await raw.text()).toBe(received!.body);
    expect(await delivered(event, id)).toMatchObject({
      object: "delivery",
      event,
      event_type: "customer.created",
      endpoint: id,
      listener: null,
      status: "succeeded",
      attempt_count: 1,
      next_attempt: null,
      livemode: false,
      attempts: [
        {
          status_code: 200,
          error: null,
          request_headers: { "Content-Type": "application/json", "Service-Signature": header },
          response_headers: { connection: "keep-alive" },
          response_excerpt: "answered 200",
          injected: null,
        },
      ],
    });
    await remove(id);
  });

  it("goes to subscribed endpoints, independent of each other", async () => {
    const all = await createEndpoint("/200/all", ["*"]);
    const customers = await createEndpoint("/200/customers?a=b", ["customer.*"]);
    const orders = await createEndpoint("/200/orders", ["order.*"]);
    const event = await createCustomer();
    await delivered(event, all.id);
    await delivered(event, customers.id);
    expect(receiver.at("/200/customers?a=b")).toHaveLength(1);
    expect((await platform.api("GET", `/v1/deliveries?event=${event}`)).body.data).toHaveLength(2);
    expect(receiver.at("/200/orders")).toHaveLength(0);
    for (const { id } of [all, customers, orders]) await remove(id);
  });

  it("of a sandbox event never reaches a live endpoint, or vice versa", async () => {
    const live = (await platform.live("POST", "/v1/webhook_endpoints", { url: "https://live.example", events: ["*"] }))
      .body;
    const event = await createCustomer();
    expect((await platform.api("GET", `/v1/deliveries?event=${event}`)).body.data).toEqual([]);
    await platform.live("POST", "/v1/customers", { email: "live@example.com" });
    const { data } = (await platform.live("GET", "/v1/deliveries")).body;
    expect(data).toHaveLength(1);
    expect((await platform.api("GET", `/v1/deliveries/${data[0].id}`)).status).toBe(404);
    expect((await platform.api("GET", `/v1/deliveries?endpoint=${live.id}`)).body.data).toEqual([]);
    await platform.live("DELETE", `/v1/webhook_endpoints/${live.id}`);
  });

  it.each([301, 302, 303, 307, 308])("does not follow a %d", async (status) => {
    const trap = `${receiver.url}/200/trap`;
    const { id } = await createEndpoint(`/${status}?location=${trap}`);
    const delivery = await delivered(await createCustomer(), id);
    expect(delivery).toMatchObject({ status: "pending", attempts: [{ status_code: status, error: null }] });
    expect(receiver.at("/200/trap")).toEqual([]);
    await remove(id);
  });

  it.each([400, 401, 404, 408, 429, 500, 502, 503, 504])("is retried after %d", async (status) => {
    const { id } = await createEndpoint(`/${status}`);
    const delivery = await delivered(await createCustomer(), id);
    expect(delivery.status).toBe("pending");
    const wait = (Date.parse(delivery.next_attempt!) - Date.parse(delivery.attempts[0]!.at)) / 1000;
    // 30 s, plus or minus 20 percent, from the end of the attempt.
    const attemptSeconds = delivery.attempts[0]!.duration_ms / 1000;
    expect(wait).toBeGreaterThanOrEqual(23);
    expect(wait - attemptSeconds).toBeLessThanOrEqual(37);
    await remove(id);
  });

  it.each([
    ["503", "120", 120],
    ["429", "3600", 3600],
    ["503", "a date", 600],
    ["429", "999999999", 6 * 3600],
  ])("waits for as long as %s with Retry-After %s asks, up to the maximum", async (status, value, seconds) => {
    const asked = value === "a date" ? new Date(Date.now() + seconds * 1000).toUTCString() : value;
    const { id } = await createEndpoint(`/${status}?retry-after=${encodeURIComponent(asked)}`);
    const delivery = await delivered(await createCustomer(), id);
    const wait = (Date.parse(delivery.next_attempt!) - Date.parse(delivery.attempts[0]!.at)) / 1000;
    expect(Math.abs(wait - seconds)).toBeLessThan(30);
    await remove(id);
  });

  it("fails at 410, which disables the endpoint", async () => {
    const { id } = await createEndpoint("/410");
    expect(await delivered(await createCustomer(), id)).toMatchObject({
      status: "failed",
      next_attempt: null,
      attempts: [{ status_code: 410 }],
    });
    expect((await platform.api("GET", `/v1/webhook_endpoints/${id}`)).body).toMatchObject({
      status: "disabled",
      disabled_reason: "gone",
      disabled_at: expect.stringMatching(/Z$/),
    });
    const enabled = await platform.api("PATCH", `/v1/webhook_endpoints/${id}`, { status: "enabled" });
    expect(enabled.body).toMatchObject({ status: "enabled", disabled_reason: null, disabled_at: null });
    await platform.api("PATCH", `/v1/webhook_endpoints/${id}`, { status: "disabled" });
    expect(platform.activities).toContainEqual({ event: "warning", message: expect.stringContaining(id) });
    const event = await createCustomer();
    expect((await platform.api("GET", `/v1/deliveries?event=${event}&endpoint=${id}`)).body.data).toEqual([]);
    await remove(id);
  });

  it("reports why there was no response", async () => {
    const cutting = await startScriptedReceiver((_request, response) => response.socket?.destroy());
    const garbage = await startScriptedReceiver((_request, response) => {
      response.socket?.end("SSH-2.0-OpenSSH_9.2\r\n");
    });
    for (const [url, code] of [
      [`http://127.0.0.1:${await freePort()}/`, "connection_refused"],
      [`${cutting.url}/`, "connection_closed"],
      [`${garbage.url}/`, "invalid_response"],
      [receiver.url.replace("http:", "https:"), "tls"],
      ["https://nowhere.invalid/", "dns"],
    ] as const) {
      const { id } = await createEndpoint(url);
      const { attempts } = await delivered(await createCustomer(), id);
      expect(attempts[0], url).toMatchObject({ status_code: null, error: expect.stringMatching(`^${code}: .`) });
      await remove(id);
    }
    await cutting.close();
    await garbage.close();
  });

  it("stores the receiver's response, whatever it contains", async () => {
    const long = "ä".repeat(20_000);
    const results = await startScriptedReceiver(({ path }, response) => {
      const bodies: Record<string, string | Buffer> = {
        "/long": long,
        "/nul": "a\0b",
        "/bytes": Buffer.from([0xff, 0xfe, 0x61]),
        "/empty": "",
      };
      response.end(bodies[path]);
    });
    const excerpts: Record<string, string | null> = {};
    for (const path of ["/long", "/nul", "/bytes", "/empty"]) {
      const { id } = await createEndpoint(results.url + path);
      const delivery = await delivered(await createCustomer(), id);
      expect(delivery.status, path).toBe("succeeded");
      excerpts[path] = delivery.attempts[0]!.response_excerpt;
      await remove(id);
    }
    expect(excerpts).toEqual({
      "/long": "ä".repeat(8192),
      "/nul": "a\u{fffd}b",
      "/bytes": "\u{fffd}\u{fffd}a",
      "/empty": null,
    });
    await results.close();
  });
});
