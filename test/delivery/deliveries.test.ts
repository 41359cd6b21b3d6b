import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { HEADERS } from "../../src/contract/headers.ts";
import { verify } from "../../src/webhooks/index.ts";
import { type HostedPlatform, hostPlatform } from "./support/hosted-platform.ts";
import { type ScriptedReceiver, startScriptedReceiver } from "./support/scripted-receiver.ts";

interface Shown {
  id: string;
  status: string;
  next_attempt: string | null;
  attempt_count: number;
  created: string;
  endpoint: string;
  attempts: {
    at: string;
    status_code: number | null;
    error: string | null;
    duration_ms: number;
    response_excerpt: string | null;
  }[];
}

let platform: HostedPlatform;
let receiver: ScriptedReceiver;

beforeAll(async () => {
  platform = await hostPlatform();
  // A path names the answer: /503?retry-after=120.
  receiver = await startScriptedReceiver(({ path }, response) => {
    const { pathname, searchParams } = new URL(path, "http://receiver");
    const status = Number(pathname.slice(1, 4)) || 200;
    const headers: Record<string, string> = {};
    for (const name of ["retry-after", "location"]) {
      const value = searchParams.get(name);
      if (value !== null) headers[name] = value;
    }
    response.writeHead(status, headers).end(searchParams.get("body") ?? `answered ${status}`);
  });
});
afterAll(async () => {
  await platform.close();
  await receiver.close();
});

async function createEndpoint(path: string, events = ["*"]): Promise<{ id: string; secret: string }> {
  const url = path.startsWith("http") ? path : receiver.url + path;
  return (await platform.api("POST", "/v1/webhook_endpoints", { url, events })).body;
}

let emails = 0;
async function createCustomer(): Promise<string> {
  const { id } = (await platform.api("POST", "/v1/customers", { email: `c${emails++}@example.com` })).body;
  return (await platform.api("GET", `/v1/events?related=${id}`)).body.data[0].id;
}

/** The delivery of an event to an endpoint, once it was attempted so often. */
async function delivered(event: string, endpoint: string, attempts = 1): Promise<Shown> {
  return vi.waitFor(
    async () => {
      const { data } = (await platform.api("GET", `/v1/deliveries?event=${event}&endpoint=${endpoint}`)).body;
      const delivery = (await platform.api("GET", `/v1/deliveries/${data[0].id}`)).body as Shown;
      if (delivery.attempt_count < attempts) throw new Error("not yet");
      return delivery;
    },
    { timeout: 15_000, interval: 10 },
  );
}

const disable = (id: string) => platform.api("PATCH", `/v1/webhook_endpoints/${id}`, { status: "disabled" });
const remove = (id: string) => platform.api("DELETE", `/v1/webhook_endpoints/${id}`);

describe("a delivery", () => {
  it("carries the event's exact bytes, signed, with the headers of the contract", async () => {
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
      attempts: [{ status_code: 200, error: null, response_excerpt: "answered 200" }],
    });
    await remove(id);
  });

  it("goes to those who subscribe, each by its own path", async () => {
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

  it("of a sandbox event never reaches a live endpoint, nor the reverse", async () => {
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

  it.each([301, 302, 303, 307, 308])("is not redirected by %d", async (status) => {
    const trap = `${receiver.url}/200/trap`;
    const { id } = await createEndpoint(`/${status}?location=${trap}`);
    const delivery = await delivered(await createCustomer(), id);
    expect(delivery).toMatchObject({ status: "pending", attempts: [{ status_code: status, error: null }] });
    expect(receiver.at("/200/trap")).toEqual([]);
    await remove(id);
  });

  it.each([400, 401, 404, 408, 429, 500, 502, 503, 504])("is tried again after %d", async (status) => {
    const { id } = await createEndpoint(`/${status}`);
    const delivery = await delivered(await createCustomer(), id);
    expect(delivery.status).toBe("pending");
    const wait = (Date.parse(delivery.next_attempt!) - Date.parse(delivery.attempts[0]!.at)) / 1000;
    expect(wait).toBeGreaterThanOrEqual(23);
    expect(wait).toBeLessThanOrEqual(37);
    await remove(id);
  });

  it.each([
    ["503", "120", 120],
    ["429", "3600", 3600],
    ["503", new Date(Date.now() + 600_000).toUTCString(), 600],
    ["429", "999999999", 6 * 3600],
  ])("waits for as long as %s with Retry-After %s asks, up to the cap", async (status, asked, seconds) => {
    const { id } = await createEndpoint(`/${status}?retry-after=${encodeURIComponent(asked)}`);
    const delivery = await delivered(await createCustomer(), id);
    const wait = (Date.parse(delivery.next_attempt!) - Date.parse(delivery.attempts[0]!.at)) / 1000;
    expect(Math.abs(wait - seconds)).toBeLessThan(30);
    await remove(id);
  });

  it("ends at 410, which disables the endpoint", async () => {
    const { id } = await createEndpoint("/410");
    expect(await delivered(await createCustomer(), id)).toMatchObject({
      status: "failed",
      next_attempt: null,
      attempts: [{ status_code: 410 }],
    });
    expect((await platform.api("GET", `/v1/webhook_endpoints/${id}`)).body.status).toBe("disabled");
    expect(platform.activities).toContainEqual({ event: "warning", message: expect.stringContaining(id) });
    const event = await createCustomer();
    expect((await platform.api("GET", `/v1/deliveries?event=${event}&endpoint=${id}`)).body.data).toEqual([]);
    await remove(id);
  });

  it("says why there was no reply", async () => {
    const closed = await startScriptedReceiver();
    const dead = closed.url;
    await closed.close();
    const cutting = await startScriptedReceiver((_request, response) => response.socket?.destroy());
    const garbage = await startScriptedReceiver((_request, response) => {
      response.socket?.end("SSH-2.0-OpenSSH_9.2\r\n");
    });
    for (const [url, code] of [
      [`${dead}/`, "connection_refused"],
      [`${cutting.url}/`, "connection_closed"],
      [`${garbage.url}/`, "invalid_reply"],
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

  it("keeps what the receiver said, whatever that is", async () => {
    const long = "ä".repeat(20_000);
    const answers = await startScriptedReceiver(({ path }, response) => {
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
      const { id } = await createEndpoint(answers.url + path);
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
    await answers.close();
  });
});

describe("the list of deliveries", () => {
  it("has every combination of filters, newest first, in stable pages", async () => {
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
    expect((await eventsOf("status=pending&limit=6")).slice(0, 6)).toEqual(events);
    expect((await list(`event=${events[0]}`)).data).toHaveLength(2);
    expect((await list(`event=${events[0]}&status=pending`)).data).toMatchObject([{ endpoint: bad.id }]);
    expect((await list(`event=${events[0]}&endpoint=${good.id}`)).data).toMatchObject([{ endpoint: good.id }]);
    expect((await list(`event=${events[0]}&endpoint=${good.id}&status=failed`)).data).toEqual([]);
    expect((await list("limit=12")).data[0]).not.toHaveProperty("attempts");

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

  it.each(["endpoint=evt_1", "event=we_1", "status=done", "listener=x", "limit=0"])("refuses ?%s", async (query) => {
    expect((await platform.api("GET", `/v1/deliveries?${query}`)).status).toBe(400);
  });
});

describe("a retry by hand", () => {
  it("attempts a pending delivery now, and a failed one for 3 days again", async () => {
    let status = 500;
    const fickle = await startScriptedReceiver((_request, response) => response.writeHead(status).end());
    const { id } = await createEndpoint(fickle.url);
    const event = await createCustomer();
    const { id: delivery } = await delivered(event, id);
    const retried = await platform.api("POST", `/v1/deliveries/${delivery}/retry`);
    expect(retried.status).toBe(200);
    expect(retried.body).toMatchObject({ id: delivery, status: "pending" });
    await delivered(event, id, 2);
    await platform.api("POST", "/v1/test_clock/advance", { seconds: 3 * 86_400 });
    const failed = (await platform.api("GET", `/v1/deliveries/${delivery}`)).body as Shown;
    expect(failed.status).toBe("failed");
    await platform.api("POST", `/v1/deliveries/${delivery}/retry`);
    const again = await delivered(event, id, failed.attempt_count + 1);
    expect(again).toMatchObject({ status: "pending", next_attempt: expect.any(String) });
    status = 204;
    await platform.api("POST", `/v1/deliveries/${delivery}/retry`);
    const done = await delivered(event, id, failed.attempt_count + 2);
    expect(done.status).toBe("succeeded");
    expect(done.attempts.map(({ status_code: code }) => code).slice(-3)).toEqual([500, 500, 204]);
    expect(fickle.received.map(({ headers }) => headers["service-delivery-attempt"])).toEqual(
      fickle.received.map((_, index) => String(index + 1)),
    );
    const refused = await platform.api("POST", `/v1/deliveries/${delivery}/retry`);
    expect(refused.status).toBe(409);
    expect(refused.body.code).toBe("delivery_not_retryable");
    await remove(id);
    await fickle.close();
  });

  it("is refused where nothing can be sent", async () => {
    const { id } = await createEndpoint("/500/refuse");
    const { id: delivery } = await delivered(await createCustomer(), id);
    await disable(id);
    const disabled = await platform.api("POST", `/v1/deliveries/${delivery}/retry`);
    expect([disabled.status, disabled.body.code]).toEqual([409, "endpoint_disabled"]);
    await remove(id);
    const deleted = await platform.api("POST", `/v1/deliveries/${delivery}/retry`);
    expect([deleted.status, deleted.body.code]).toEqual([409, "endpoint_deleted"]);
    expect((await platform.live("POST", `/v1/deliveries/${delivery}/retry`)).status).toBe(404);
    expect((await platform.api("POST", "/v1/deliveries/dlv_nonsense/retry")).status).toBe(404);
  });
});

describe("pending deliveries", () => {
  it("of a disabled endpoint wait, and go on when it is enabled", async () => {
    let status = 500;
    const fickle = await startScriptedReceiver((_request, response) => response.writeHead(status).end());
    const { id } = await createEndpoint(fickle.url);
    const event = await createCustomer();
    await delivered(event, id);
    await disable(id);
    await platform.api("POST", "/v1/test_clock/advance", { seconds: 3600 });
    expect(await delivered(event, id)).toMatchObject({ status: "pending", next_attempt: null, attempt_count: 1 });
    status = 200;
    await platform.api("PATCH", `/v1/webhook_endpoints/${id}`, { status: "enabled" });
    expect(await delivered(event, id, 2)).toMatchObject({ status: "succeeded" });
    await remove(id);
    await fickle.close();
  });

  it("of an endpoint that stays disabled end with their 3 days, and say why", async () => {
    const { id } = await createEndpoint("/500/paused");
    const event = await createCustomer();
    await delivered(event, id);
    await disable(id);
    await platform.api("POST", "/v1/test_clock/advance", { seconds: 3 * 86_400 + 60 });
    const ended = await delivered(event, id, 2);
    expect(ended).toMatchObject({ status: "failed", next_attempt: null });
    expect(ended.attempts[1]).toMatchObject({
      status_code: null,
      error: expect.stringMatching(/^endpoint_disabled: /),
    });
    await remove(id);
  });

  it("of a deleted endpoint end at once, and say why", async () => {
    const { id } = await createEndpoint("/500/deleted");
    const event = await createCustomer();
    await delivered(event, id);
    await remove(id);
    const ended = await delivered(event, id, 2);
    expect(ended).toMatchObject({ status: "failed", next_attempt: null });
    expect(ended.attempts[1]).toMatchObject({ status_code: null, error: expect.stringMatching(/^endpoint_deleted: /) });
  });

  it("survive a restart", async () => {
    const { id } = await createEndpoint("/500/restart");
    const event = await createCustomer();
    const before = await delivered(event, id);
    await platform.restart();
    expect(await delivered(event, id)).toEqual(before);
    await remove(id);
  });
});
