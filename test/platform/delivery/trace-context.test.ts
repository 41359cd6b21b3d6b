import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { apiOf } from "../../support/api.ts";
import { type ServedPlatform, serveNode, servePlatform } from "../../support/platform.ts";
import { usePostgres } from "../../support/postgres.ts";
import { type ScriptedReceiver, startScriptedReceiver } from "./support/scripted-receiver.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN = "00f067aa0ba902b7";

/** Each path fails the first time, so that the delivery is attempted twice. */
let receiver: ScriptedReceiver;
beforeAll(async () => {
  receiver = await startScriptedReceiver(({ path }, response) =>
    response.writeHead(receiver.at(path).length === 1 && path.startsWith("/fails-once") ? 500 : 200).end(),
  );
});
afterAll(() => receiver.close());

let customers = 0;
const newCustomer = () => ({ email: `customer-${(customers += 1)}@example.com` });

const start = {
  SQLite: async () => ({ platform: await servePlatform(), remove: async () => {} }),
  PostgreSQL: async () => {
    const server = await usePostgres();
    return { platform: await serveNode(await server.createDatabase()), remove: () => server.remove() };
  },
};

describe.each(["SQLite", "PostgreSQL"] as const)("on %s", (name) => {
  let platform: ServedPlatform;
  let remove: () => Promise<void>;
  beforeAll(async () => {
    ({ platform, remove } = await start[name]());
  });
  afterAll(async () => {
    await platform.stop();
    await remove();
  });

  const api = (method: string, path: string, body?: unknown, traceparent?: string) =>
    apiOf(platform.baseUrl, platform.sandboxKey)(method, path, body, traceparent === undefined ? {} : { traceparent });
  const linesAbout = (request: string, event: string) =>
    platform.lines
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter((line) => line["request_id"] === request || line["event_id"] === event);

  afterEach(async () => {
    const { data } = (await api("GET", "/v1/webhook_endpoints")).body;
    for (const { id } of data) expect((await api("DELETE", `/v1/webhook_endpoints/${id}`)).status).toBe(200);
  });

  async function createEndpoint(path: string): Promise<void> {
    const endpoint = { url: receiver.url + path, events: ["customer.created"] };
    expect((await api("POST", "/v1/webhook_endpoints", endpoint)).status).toBe(201);
  }

  /** Creates an endpoint at a path, then a customer; returns the request's ID and the event's. */
  async function createCustomer(path: string, traceparent?: string): Promise<{ request: string; event: string }> {
    await createEndpoint(path);
    const created = await api("POST", "/v1/customers", newCustomer(), traceparent);
    expect(created.status).toBe(201);
    await receiver.until(1, path);
    const event = receiver.at(path)[0]!.event;
    return { request: created.headers.get("request-id")!, event };
  }

  it("a request's trace is logged and continues in each attempt of its event as a separate span", async () => {
    const path = `/fails-once/${name}`;
    await createEndpoint(path);
    const traceparent = `00-${TRACE}-${SPAN}-01`;
    const created = await api("POST", "/v1/customers", newCustomer(), traceparent);
    expect(created.status).toBe(201);
    await receiver.until(1, path);
    const { event } = receiver.at(path)[0]!;
    const delivery = async () => (await api("GET", `/v1/deliveries?event=${event}`)).body.data[0];
    await expect.poll(async () => (await delivery()).attempt_count).toBe(1);
    expect((await api("POST", `/v1/deliveries/${(await delivery()).id}/retry`)).status).toBeLessThan(300);
    await receiver.until(2, path);
    await expect.poll(async () => (await delivery()).status).toBe("succeeded");

    const sent = receiver.at(path).map(({ headers }) => String(headers["traceparent"]));
    const spans = sent.map((header) => new RegExp(`^00-${TRACE}-([0-9a-f]{16})-01$`).exec(header)?.[1]);
    expect(new Set([SPAN, "0".repeat(16), ...spans])).toHaveLength(4);
    const { attempts } = (await api("GET", `/v1/deliveries/${(await delivery()).id}`)).body;
    const kept = attempts.map(
      (attempt: { request_headers: { traceparent: string } }) => attempt.request_headers.traceparent,
    );
    expect(kept.toSorted()).toEqual(sent.toSorted());

    const request = created.headers.get("request-id");
    await expect
      .poll(() => linesAbout(request!, event))
      .toMatchObject([
        { event: "request", trace_id: TRACE },
        { event: "delivery", trace_id: TRACE, attempt: 1 },
        { event: "delivery", trace_id: TRACE, attempt: 2 },
      ]);
    const log = async () => (await api("GET", `/v1/request_logs/${request}`)).body;
    await expect.poll(log).toMatchObject({ request_headers: { traceparent }, events: [event] });
  });

  it("a replay continues the trace of the request that caused the event", async () => {
    const { event } = await createCustomer(`/first/${name}`, `00-${TRACE}-${SPAN}-00`);
    const path = `/replayed/${name}`;
    await createEndpoint(path);
    const replayed = await api("POST", `/v1/events/${event}/replay`, {}, `00-${"c".repeat(32)}-${SPAN}-01`);
    expect(replayed.status).toBeLessThan(300);
    await receiver.until(1, path);
    expect(receiver.at(path)[0]!.headers["traceparent"]).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-00$`));
  });

  it("the known part of a later header version is read", async () => {
    const path = `/later/${name}`;
    await createCustomer(path, `cc-${TRACE}-${SPAN}-ff-what-the-future-brings`);
    expect(receiver.at(path)[0]!.headers["traceparent"]).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-03$`));
  });

  it.each([
    ["absent", undefined],
    ["empty", ""],
    ["no trace", "trace"],
    ["in capitals", `00-${TRACE.toUpperCase()}-${SPAN}-01`],
    ["without a trace ID", `00-${"0".repeat(32)}-${SPAN}-01`],
    ["without a span ID", `00-${TRACE}-${"0".repeat(16)}-01`],
    ["cut", `00-${TRACE}-${SPAN}`],
    ["of the invalid version ff", `ff-${TRACE}-${SPAN}-01`],
    ["of version 00 with more fields", `00-${TRACE}-${SPAN}-01-more`],
    ["repeated", `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`],
  ])("a traceparent that is %s is ignored", async (kind, traceparent) => {
    const path = `/${encodeURIComponent(kind)}/${name}`;
    const { request, event } = await createCustomer(path, traceparent);
    expect(receiver.at(path)[0]!.headers).not.toHaveProperty("traceparent");
    await expect.poll(() => linesAbout(request, event).length).toBe(2);
    for (const line of linesAbout(request, event)) expect(line).not.toHaveProperty("trace_id");
  });
});
