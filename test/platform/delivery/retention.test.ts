import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { lowestIdAt } from "../../../src/contract/ids.ts";
import { type HostedPlatform, hostPlatform } from "./support/hosted-platform.ts";
import { listenTo } from "./support/listen-socket.ts";
import { createMinuteClock, type MinuteClock } from "./support/minute-clock.ts";
import { type ScriptedReceiver, startScriptedReceiver } from "./support/scripted-receiver.ts";
import { advanceClock } from "../../support/advance-clock.ts";

const DAY = 86_400;
/** Rows that one transaction removes. */
const ROWS = 520;

let clock: MinuteClock;
let platform: HostedPlatform;
let receiver: ScriptedReceiver;

beforeEach(async () => {
  clock = createMinuteClock();
  platform = await hostPlatform({ clock });
  receiver = await startScriptedReceiver(({ path }, response) => response.writeHead(path === "/500" ? 500 : 200).end());
});
afterEach(async () => {
  await platform.close();
  await receiver.close();
});

const advance = (seconds: number) => advanceClock(platform.api, seconds);

/** Runs the periodic tasks once, and resolves when they have finished. */
async function sweep(): Promise<void> {
  const tasks = clock.waiting();
  expect(tasks).toBeGreaterThan(0);
  clock.passMinute();
  await expect.poll(() => clock.waiting()).toBe(tasks);
}

async function createEndpoint(path: string): Promise<string> {
  return (
    await platform.api("POST", "/v1/webhook_endpoints", { url: receiver.url + path, events: ["customer.*", "order.*"] })
  ).body.id;
}

let names = 0;
const createCustomer = (api = platform.api) => api("POST", "/v1/customers", { email: `${names++}@example.com` });

async function createEvent(api = platform.api): Promise<string> {
  await createCustomer(api);
  return (await api("GET", "/v1/events?limit=1")).body.data[0].id;
}

const count = async (list: string, api = platform.api) =>
  (await api("GET", `/v1/${list}${list.includes("?") ? "&" : "?"}limit=100`)).body.data.length;

describe("after 30 days", () => {
  it("removes events, finished deliveries and their attempts, and keeps newer and pending ones", async () => {
    await createEndpoint("/200");
    await createEndpoint("/500");
    const old = await createEvent();
    await createEvent(platform.live);
    await receiver.until(2);
    await advance(4 * DAY);
    expect(await count("deliveries")).toBe(2);
    const [failed] = (await platform.api("GET", "/v1/deliveries?status=failed")).body.data;
    await advance(25 * DAY);
    const young = await createEvent();
    await sweep();
    expect((await platform.api("GET", `/v1/events/${old}`)).status).toBe(200);
    await advance(2 * DAY);
    await sweep();
    expect((await platform.api("GET", `/v1/events/${old}`)).status).toBe(404);
    // The last attempts were in the third day of retries, so they are recent enough.
    expect((await platform.api("GET", `/v1/deliveries?event=${old}`)).body.data).toMatchObject([{ id: failed.id }]);
    await advance(3 * DAY);
    await sweep();
    expect((await platform.api("GET", `/v1/deliveries/${failed.id}`)).status).toBe(404);
    expect((await platform.api("GET", `/v1/events/${young}`)).status).toBe(200);
    expect(await count("events")).toBe(1);
    expect(await count("deliveries")).toBe(2);
    expect(await count("events", platform.live)).toBe(1);
    // A removed event is expired for a replay.
    expect((await platform.api("POST", `/v1/events/${old}/replay`)).body.code).toBe("event_expired");
  });

  it("keeps an event that a pending delivery needs until the delivery has finished", async () => {
    const old = await createEvent();
    await advance(29 * DAY);
    const endpoint = await createEndpoint("/500");
    const [id] = (await platform.api("POST", `/v1/events/${old}/replay`, { endpoint })).body.deliveries;
    await receiver.until(1);
    await advance(2 * DAY);
    await sweep();
    expect((await platform.api("GET", `/v1/events/${old}`)).status).toBe(200);
    await advance(2 * DAY);
    expect((await platform.api("GET", `/v1/deliveries/${id}`)).body.status).toBe("failed");
    await sweep();
    expect((await platform.api("GET", `/v1/events/${old}`)).status).toBe(404);
    // The delivery is younger than its event, and cannot be retried without it.
    const retry = await platform.api("POST", `/v1/deliveries/${id}/retry`);
    expect([retry.status, retry.body.code]).toEqual([410, "event_expired"]);
  });

  it("removes more rows than fit in one transaction in several, while writes continue", async () => {
    await createEndpoint("/200");
    for (let i = 0; i < ROWS; i += 30) await Promise.all(Array.from({ length: 30 }, () => createCustomer()));
    await receiver.until(ROWS);
    await expect.poll(() => count("deliveries?status=pending")).toBe(0);
    await advance(31 * DAY);
    const sweeping = sweep();
    let writes = 0;
    let swept = false;
    const writing = (async () => {
      while (!swept) {
        expect((await platform.api("POST", "/v1/customers", { email: `w${writes++}@example.com` })).status).toBe(201);
      }
    })();
    await sweeping;
    swept = true;
    await writing;
    expect(writes).toBeGreaterThan(1);
    expect(await count("events")).toBe(Math.min(100, writes));
    const { data } = (await platform.api("GET", "/v1/deliveries?limit=100")).body;
    expect(data.length).toBe(Math.min(100, writes));
    expect(platform.complaints).toEqual([]);
  });
});

describe("after 24 hours", () => {
  it("removes an Idempotency-Key", async () => {
    const key = { "Idempotency-Key": "k" };
    const create = (email: string) => platform.api("POST", "/v1/customers", { email }, key);
    expect((await create("k1@example.com")).status).toBe(201);
    await advance(DAY - 60);
    await sweep();
    expect((await create("k2@example.com")).body.code).toBe("idempotency_key_reused");
    await advance(120);
    await sweep();
    expect((await create("k2@example.com")).status).toBe(201);
  });
});

describe("after 90 days", () => {
  const secretOf = async (device: string, meanwhile = async () => {}) => {
    const socket = await listenTo(platform.baseUrl, platform.sandboxKey, "", device);
    await meanwhile();
    await socket.close();
    return (socket.frames[0] as { secret: string }).secret;
  };
  const pass = async (days: number) => {
    clock.pass(days * DAY * 1000);
    await sweep();
  };

  it("removes an unused listener; one used within that time keeps its secret", async () => {
    const old = await secretOf("left");
    const used = await secretOf("used");
    await pass(60);
    expect(await secretOf("used")).toBe(used);
    await pass(60);
    expect(await secretOf("used")).toBe(used);
    expect(await secretOf("left")).not.toBe(old);
  });

  it("keeps a listener that stayed connected", async () => {
    const secret = await secretOf("open", async () => {
      for (let passed = 0; passed < 200; passed += 50) await pass(50);
    });
    expect(await secretOf("open")).toBe(secret);
  });
});

describe("a disabled endpoint's deliveries", () => {
  it("fail after their 3 days, although no clock is advanced past them", async () => {
    const endpoint = await createEndpoint("/500");
    await createEvent();
    await receiver.until(1);
    await expect.poll(async () => (await platform.api("GET", "/v1/deliveries")).body.data[0].attempt_count).toBe(1);
    await platform.api("PATCH", `/v1/webhook_endpoints/${endpoint}`, { status: "disabled" });
    await sweep();
    expect(await count("deliveries?status=pending")).toBe(1);
    clock.pass(3 * DAY * 1000 + 60_000);
    await sweep();
    expect((await platform.api("GET", "/v1/deliveries")).body.data).toMatchObject([
      { status: "failed", attempt_count: 2 },
    ]);
  });
});

describe("a listener that resumes from a removed position", () => {
  const gapOf = async (query: string) => {
    const socket = await listenTo(platform.baseUrl, platform.sandboxKey, query);
    // The gap is reported before any event.
    const next = await createEvent();
    await expect.poll(() => socket.events.map(({ id }) => id)).toContain(next);
    await socket.close();
    return socket.frames.find(({ frame }) => frame === "gap");
  };

  it("is notified of the gap, by ID and by time, and receives the rest", async () => {
    const removed: string[] = [];
    for (let i = 0; i < 3; i++) removed.push(await createEvent());
    await advance(29 * DAY);
    const retained = await createEvent();
    await advance(2 * DAY);
    const before = await listenTo(platform.baseUrl, platform.sandboxKey, `?after=${removed[0]}`);
    await before.until(3);
    expect(before.frames.some(({ frame }) => frame === "gap")).toBe(false);
    await before.close();
    await sweep();

    for (const id of removed.slice(0, 2)) {
      const socket = await listenTo(platform.baseUrl, platform.sandboxKey, `?after=${id}`);
      await socket.until(1);
      expect(socket.frames[1]).toEqual({ frame: "gap", from: id, to: retained });
      expect(socket.events.map((event) => event.id)).toEqual([retained]);
      await socket.close();
    }
    // After the last removed event nothing is missing.
    const last = await listenTo(platform.baseUrl, platform.sandboxKey, `?after=${removed[2]}`);
    await last.until(1);
    expect(last.frames.some(({ frame }) => frame === "gap")).toBe(false);
    await last.close();

    const { now } = await platform.api("GET", "/v1/test_clock").then(({ body }) => body);
    const all = await listenTo(platform.baseUrl, platform.sandboxKey, `?after=-${40 * DAY}`);
    await all.until(1);
    expect(all.frames[1]).toMatchObject({ frame: "gap", to: retained });
    const { from } = all.frames[1] as { from: string };
    expect(from <= lowestIdAt("event", Date.parse(now) - 40 * DAY * 1000 + 60_000)).toBe(true);
    await all.close();

    const recent = await listenTo(platform.baseUrl, platform.sandboxKey, `?after=-${3 * DAY}`);
    await recent.until(1);
    expect(recent.frames.some(({ frame }) => frame === "gap")).toBe(false);
    await recent.close();
  });

  it("is notified of the gap by time, even if an older event was removed after newer ones", async () => {
    const old = await createEvent();
    await advance(60);
    const { now } = (await platform.api("GET", "/v1/test_clock")).body as { now: string };
    const younger = await createEvent();
    await advance(29 * DAY);
    const endpoint = await createEndpoint("/500");
    await platform.api("POST", `/v1/events/${old}/replay`, { endpoint });
    await receiver.until(1);
    await advance(2 * DAY);
    await sweep();
    expect((await platform.api("GET", `/v1/events/${old}`)).status).toBe(200);
    expect((await platform.api("GET", `/v1/events/${younger}`)).status).toBe(404);
    await advance(2 * DAY);
    await sweep();
    expect((await platform.api("GET", `/v1/events/${old}`)).status).toBe(404);
    const current = (await platform.api("GET", "/v1/test_clock")).body as { now: string };
    const seconds = Math.ceil((Date.parse(current.now) - Date.parse(now)) / 1000) + 30;
    // A position between the two: the younger event is missing.
    expect(await gapOf(`?after=-${seconds}`)).toBeDefined();
    // After the last removed event nothing is missing.
    expect(await gapOf(`?after=${younger}`)).toBeUndefined();
  });

  it("is notified of no gap after an existing event, although a replay was removed", async () => {
    const old = await createEvent();
    expect((await platform.api("POST", `/v1/events/${old}/replay`)).status).toBe(201);
    await advance(29 * DAY);
    const retained = await createEvent();
    await advance(2 * DAY);
    await sweep();
    expect((await platform.api("GET", `/v1/events/${old}`)).status).toBe(404);
    expect(await gapOf(`?after=${retained}`)).toBeUndefined();
  });

  it("is notified of the gap while it is connected with a full window", async () => {
    const socket = await listenTo(platform.baseUrl, platform.sandboxKey, "?window=1");
    const sent = await createEvent();
    await socket.until(1);
    for (let i = 0; i < 2; i++) await createEvent();
    await advance(31 * DAY);
    await sweep();
    expect(await count("events")).toBe(0);
    const retained = await createEvent();
    socket.ack(1);
    await socket.until(2);
    expect(socket.frames.slice(1).map(({ frame, ...rest }) => ({ frame, ...rest }))).toMatchObject([
      { frame: "events", events: [{ id: sent }] },
      { frame: "gap", from: sent, to: retained },
      { frame: "events", events: [{ id: retained }] },
    ]);
    await socket.close();
  });

  it("is notified of no gap if it is connected and received everything that it subscribes to", async () => {
    const all = await listenTo(platform.baseUrl, platform.sandboxKey);
    const orders = await listenTo(platform.baseUrl, platform.sandboxKey, "?events=order.*");
    for (let i = 0; i < 2; i++) await createEvent();
    await all.until(2);
    await advance(31 * DAY);
    await sweep();
    expect(await count("events")).toBe(0);
    await platform.api("POST", "/v1/orders", { amount: 1, currency: "EUR" });
    await Promise.all([all.until(3), orders.until(1)]);
    expect([...all.frames, ...orders.frames].filter(({ frame }) => frame === "gap")).toEqual([]);
    await Promise.all([all.close(), orders.close()]);
  });

  it("is notified of a gap for an ID that never existed", async () => {
    await createEvent();
    expect(await gapOf("?after=evt_0000000000000000000001")).toMatchObject({
      frame: "gap",
      from: "evt_0000000000000000000001",
    });
  });
});
