import type { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { formatCredential } from "../../src/contract/credentials.ts";
import { apiOnPlatform } from "../support/api-on-platform.ts";

const on = apiOnPlatform();
const { api } = on;

// oxlint-disable-next-line typescript/no-explicit-any -- frames of every kind
type Frame = any;

/** A minimal client of the protocol that acknowledges only on request. */
class Listener {
  readonly frames: Frame[] = [];
  readonly socket: WebSocket;
  readonly closed: Promise<number>;
  #waiting: { fits: () => boolean; resolve: () => void }[] = [];

  constructor(query = "", key = on.platform.sandboxKey, device = "test") {
    const url = `${on.platform.baseUrl.replace("http", "ws")}/v1/listen${query}`;
    this.socket = new WebSocket(url, "service.listen.v1", {
      headers: { Authorization: `Bearer ${key}`, "Service-Device": device },
    });
    this.socket.on("message", (data: Buffer) => {
      this.frames.push(JSON.parse(data.toString()));
      this.#waiting = this.#waiting.filter(({ fits, resolve }) => !fits() || resolve());
    });
    this.closed = new Promise((resolve) => {
      this.socket.on("close", resolve);
    });
    this.socket.on("error", () => {});
  }

  get events(): Frame[] {
    return this.frames.flatMap(({ events = [] }) => events as Frame[]);
  }

  until(fits: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      if (fits()) resolve();
      else this.#waiting.push({ fits, resolve });
    });
  }

  async ready(): Promise<Frame> {
    await this.until(() => this.frames.length > 0);
    return this.frames[0];
  }

  acknowledge(seq: number, outcome: object = { status_code: 204 }): void {
    this.socket.send(JSON.stringify({ frame: "acks", acks: [{ seq, duration_ms: 1, ...outcome }] }));
  }

  close(): void {
    this.socket.terminate();
  }
}

/** Returns the platform's response to a rejected upgrade. */
function rejection(
  query: string,
  headers: Record<string, string>,
  protocol?: string,
): Promise<{ status: number; body: Frame }> {
  return new Promise((resolve) => {
    const url = `${on.platform.baseUrl.replace("http", "ws")}${query}`;
    const socket = protocol === undefined ? new WebSocket(url, { headers }) : new WebSocket(url, protocol, { headers });
    socket.on("error", () => {});
    socket.on("unexpected-response", (_request, response) => {
      let text = "";
      response.on("data", (chunk: Buffer) => (text += chunk.toString()));
      response.on("end", () => resolve({ status: response.statusCode!, body: JSON.parse(text) }));
    });
  });
}

const createEvents = async (count: number): Promise<string[]> => {
  const ids: string[] = [];
  for (let i = 0; i < count; i++) {
    ids.push((await api("POST", "/v1/events", { type: "order.created", data: { id: "ord_x", i } })).body.id);
  }
  return ids;
};

describe("a listening session", () => {
  it("starts with ready and sends new events as the stored bytes", async () => {
    const listener = new Listener();
    expect(await listener.ready()).toMatchObject({
      frame: "ready",
      session: expect.stringMatching(/^lsn_/),
      secret: expect.stringMatching(/^whsec_/),
      cursor: expect.stringMatching(/^evt_/),
      environment: "sandbox",
      subscriptions: ["*"],
      others: expect.any(Number),
    });
    const [id] = await createEvents(1);
    await listener.until(() => listener.events.length === 1);
    const stored = await fetch(`${on.platform.baseUrl}/v1/events/${id}`, {
      headers: { Authorization: `Bearer ${on.platform.sandboxKey}` },
    });
    expect(listener.events[0]).toEqual({
      seq: 1,
      id,
      type: "order.created",
      body: await stored.text(),
    });
    listener.close();
  });

  it("starts after an event, some time ago, or now", async () => {
    const ids = await createEvents(5);
    const behind = new Listener(`?after=${ids[1]}`);
    await behind.until(() => behind.events.length === 3);
    expect(behind.events.map(({ id }) => id)).toEqual(ids.slice(2));
    expect((await behind.ready()).cursor).toBe(ids[1]);

    const ago = new Listener("?after=-3600&window=1000");
    await ago.until(() => ago.events.some(({ id }) => id === ids[4]));
    const now = new Listener("?after=now");
    expect((await now.ready()).cursor).toBe(ids[4]);
    expect(now.events).toEqual([]);
    for (const listener of [behind, ago, now]) listener.close();
  });

  it("has a cursor that misses nothing, even before the first event", async () => {
    const first = new Listener("?after=-0");
    const { cursor } = await first.ready();
    first.close();
    const ids = await createEvents(3);
    const second = new Listener(`?after=${cursor}`);
    await second.until(() => second.events.length === 3);
    expect(second.events.map(({ id }) => id)).toEqual(ids);
    expect(second.frames.some(({ frame }) => frame === "gap")).toBe(false);
    second.close();
  });

  it("never has more unacknowledged events in flight than its window", async () => {
    const { cursor } = await (async () => {
      const probe = new Listener();
      const ready = await probe.ready();
      probe.close();
      return ready;
    })();
    const ids = await createEvents(12);
    const listener = new Listener(`?after=${cursor}&window=4`);
    for (let seq = 1; seq <= ids.length; seq++) {
      await listener.until(() => listener.events.length >= seq);
      expect(listener.events.length - (seq - 1)).toBeLessThanOrEqual(4);
      listener.acknowledge(seq);
    }
    expect(listener.events.map(({ id }) => id)).toEqual(ids);
    listener.close();
  });

  it("records earlier attempts of an acknowledged event before the last one, each at its start", async () => {
    const listener = new Listener();
    const { session } = await listener.ready();
    const [id] = await createEvents(1);
    await listener.until(() => listener.events.length === 1);
    const attempts = [
      { status_code: 500, duration_ms: 1_000, response_excerpt: "boom", ago_ms: 7_000 },
      { error: "connection refused", duration_ms: 3_000, ago_ms: 2_000 },
    ];
    listener.acknowledge(1, { status_code: 204, duration_ms: 1_000, attempts });
    const read = async () => (await api("GET", `/v1/deliveries?event=${id}`)).body.data;
    await expect.poll(read).toMatchObject([{ listener: session, status: "succeeded", attempt_count: 3 }]);
    const [{ id: delivery }] = await read();
    const recorded = (await api("GET", `/v1/deliveries/${delivery}`)).body.attempts;
    expect(recorded).toMatchObject([
      { status_code: 500, response_excerpt: "boom" },
      { status_code: null, error: "connection refused" },
      { status_code: 204 },
    ]);
    const [first, second, third] = recorded.map(({ at }: { at: string }) => Date.parse(at));
    expect([third - first, third - second]).toEqual([7_000, 4_000]);
    listener.close();

    const again = new Listener("?after=-3600&window=1000");
    await again.until(() => again.events.some((event) => event.id === id));
    const { seq } = again.events.find((event) => event.id === id);
    again.acknowledge(seq, { status_code: 204, attempts: attempts.map((attempt) => ({ ...attempt, ago_ms: 60_000 })) });
    await expect.poll(read).toMatchObject([{ status: "succeeded", attempt_count: 4 }]);
    again.close();
  });

  it("sends only the subscribed types", async () => {
    const listener = new Listener("?events=order.*,payment.failed");
    expect((await listener.ready()).subscriptions).toEqual(["order.*", "payment.failed"]);
    await api("POST", "/v1/events", { type: "customer.created", data: { id: "cus_x" } });
    await api("POST", "/v1/events", { type: "payment.failed", data: { id: "pay_x" } });
    await listener.until(() => listener.events.length === 1);
    expect(listener.events[0].type).toBe("payment.failed");
    listener.close();
  });

  it("keeps one secret per device", async () => {
    const ready = async (device: string) => {
      const listener = new Listener("", on.platform.sandboxKey, device);
      const frame = await listener.ready();
      listener.close();
      return frame.secret as string;
    };
    expect(await ready("laptop")).toBe(await ready("laptop"));
    expect(await ready("laptop")).not.toBe(await ready("desktop"));
  });

  it("does not affect other sessions if it acknowledges and closes at once", async () => {
    const [first] = await createEvents(3);
    const listener = new Listener("?after=-3600&window=1");
    await listener.until(() => listener.events.length === 1);
    const wire = (listener.socket as unknown as { _socket: Socket })._socket;
    wire.cork();
    listener.acknowledge(1);
    listener.socket.close();
    wire.uncork();
    await listener.closed;
    expect((await api("GET", `/v1/events/${first}`)).status).toBe(200);
  });

  it("reports how many others listen, and each receives everything", async () => {
    const first = new Listener();
    await first.ready();
    const second = new Listener();
    expect((await second.ready()).others).toBeGreaterThanOrEqual(1);
    const [id] = await createEvents(1);
    await first.until(() => first.events.some((event) => event.id === id));
    await second.until(() => second.events.some((event) => event.id === id));
    first.close();
    second.close();
  });

  it("reports a gap if the event to resume from was removed", async () => {
    const removed = "evt_0351NTbofXpcv9qUI5p25z";
    const listener = new Listener(`?after=${removed}&window=1000`);
    await listener.until(() => listener.frames.length > 1);
    expect(listener.frames[1]).toMatchObject({ frame: "gap", from: removed, to: expect.stringMatching(/^evt_/) });
    listener.close();
  });

  it.each([
    ["a binary frame", (socket: WebSocket) => socket.send(Buffer.from([1, 2, 3]))],
    ["text that is no JSON", (socket: WebSocket) => socket.send("hello")],
    [
      "a frame that is nested deeper than the stack",
      (socket: WebSocket) => socket.send(`{"frame":${"[".repeat(50_000)}${"]".repeat(50_000)}}`),
    ],
    ["an unknown frame", (socket: WebSocket) => socket.send('{"frame":"hello"}')],
    [
      "an ack of an event that was never sent",
      (socket: WebSocket) => socket.send('{"frame":"acks","acks":[{"seq":99,"duration_ms":1}]}'),
    ],
  ])("ends with a reason on %s", async (_name, send) => {
    const listener = new Listener();
    await listener.ready();
    send(listener.socket);
    expect(await listener.closed).toBe(1008);
    expect(listener.frames.at(-1)).toMatchObject({ frame: "bye", code: "protocol_error" });
  });

  it("ends on a frame that is too large, and the platform keeps running", async () => {
    const listener = new Listener();
    await listener.ready();
    listener.socket.send("x".repeat(300_000));
    expect(await listener.closed).toBe(1009);
    expect((await api("GET", "/v1/me")).status).toBe(200);
  });
});

describe("an upgrade is rejected", () => {
  const key = () => ({ Authorization: `Bearer ${on.platform.sandboxKey}` });
  const protocol = "service.listen.v1";
  it.each([
    ["without a credential", "/v1/listen", () => ({}), 401, "missing_credential"],
    [
      "with an unknown key",
      "/v1/listen",
      () => ({ Authorization: `Bearer ${formatCredential("sk_sandbox_", Buffer.alloc(32))}` }),
      401,
      "invalid_credential",
    ],
    ["with a live key", "/v1/listen", () => ({ Authorization: `Bearer ${on.platform.liveKey}` }), 403, "sandbox_only"],
    ["for an unknown type", "/v1/listen?events=order.complete", key, 400, "invalid_request"],
    ["for a window of 0", "/v1/listen?window=0", key, 400, "invalid_request"],
    ["for a start that is none", "/v1/listen?after=yesterday", key, 400, "invalid_request"],
    ["for an unknown parameter", "/v1/listen?since=now", key, 400, "invalid_request"],
    ["at another path", "/v1/lisen", key, 404, "not_found"],
  ])("%s", async (_name, path, headers, status, code) => {
    const response = await rejection(path, headers(), protocol);
    expect(response).toMatchObject({ status, body: { status, code, request_id: expect.stringMatching(/^req_/) } });
  });

  it("with the reason if a proxy has removed the Upgrade header", async () => {
    const response = await api("GET", "/v1/listen");
    expect(response).toMatchObject({ status: 426, body: { code: "upgrade_required" } });
    expect(response.body.detail).toMatch(/no Upgrade header.*proxy/);
    expect(response.headers.get("upgrade")).toBe("websocket");
  });

  it("without the subprotocol", async () => {
    expect((await rejection("/v1/listen", key())).body).toMatchObject({ status: 400, code: "invalid_header" });
  });
});
