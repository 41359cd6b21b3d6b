import { once } from "node:events";
import type { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { sign, verifySignature } from "../../src/webhooks/index.ts";
import { FakeClock } from "./support/fake-clock.ts";
import { startRawReceiver, startReceiver } from "./support/receivers.ts";
import { openForwarder, send } from "./support/forwarder.ts";

const SECRET = "whsec_test";

describe("a forward", () => {
  it("has the exact bytes and the headers of a delivery", async () => {
    const receiver = await startReceiver();
    const body = '{ "a" :\t1.50,\r\n "b": "\\/ \\u00e9 é 😀", "c": 12345678901234567890 }';
    const bytes = Buffer.from(body);
    const signature = sign({ payload: bytes, secrets: SECRET });
    const forwarder = openForwarder({
      url: new URL("?x=1", receiver.url),
      headers: ["X-Extra", "1", "Host", "app.test"],
    });
    const result = await send(forwarder, { body: bytes, signature, attempt: 3 });
    expect(result).toMatchObject({ status: 200, excerpt: "ok" });
    const [request] = receiver.requests;
    expect(request).toMatchObject({ method: "POST", path: "/hook?x=1" });
    expect(request!.body.equals(bytes)).toBe(true);
    expect(request!.headers).toEqual({
      "content-type": "application/json",
      "user-agent": "Service-Webhooks/1",
      "service-relay": "1",
      "service-signature": signature,
      "service-event-id": "evt_1",
      "service-delivery-attempt": "3",
      "content-length": String(bytes.length),
      "x-extra": "1",
      host: "app.test",
      connection: "keep-alive",
    });
    verifySignature({ payload: request!.body, header: signature, secrets: SECRET });
  });

  it("reuses one connection per concurrent forward", async () => {
    const receiver = await startReceiver((response) => void receiver.received(8).then(() => response.end()));
    const forwarder = openForwarder({ url: receiver.url, clock: new FakeClock() });
    await Promise.all(Array.from({ length: 8 }, () => send(forwarder)));
    for (let i = 0; i < 8; i += 1) await send(forwarder);
    expect(receiver.requests).toHaveLength(16);
    expect(new Set(receiver.requests.map(({ peerPort }) => peerPort)).size).toBe(8);
  });

  it.each([204, 200, 299])("accepts a response of %i without a body", async (status) => {
    const receiver = await startReceiver((response) => response.writeHead(status).end());
    const result = await send(openForwarder({ url: receiver.url }));
    expect(result).toEqual({ status, durationMs: expect.any(Number), excerpt: "", responseHeaders: expect.any(Map) });
  });

  it("reports the receiver's response", async () => {
    const receiver = await startReceiver((response) =>
      response.writeHead(500, { "X-Trace": "a1" }).end("no such table: orders"),
    );
    const result = await send(openForwarder({ url: receiver.url }));
    expect(result).toMatchObject({ status: 500, excerpt: "no such table: orders" });
    expect(result.responseHeaders?.get("x-trace")).toBe("a1");
  });

  it.each([301, 302, 303, 307, 308])("does not follow a %i", async (status) => {
    const trap = await startReceiver();
    const receiver = await startReceiver((response) => response.writeHead(status, { location: trap.url.href }).end());
    const result = await send(openForwarder({ url: receiver.url }));
    expect(result).toMatchObject({ status, location: trap.url.href });
    expect(trap.requests).toHaveLength(0);
  });

  it("reads a response of exactly 16 KiB and reuses the connection", async () => {
    const receiver = await startReceiver((response) => response.end("x".repeat(16_384)));
    const forwarder = openForwarder({ url: receiver.url, clock: new FakeClock() });
    for (let i = 0; i < 2; i += 1) expect((await send(forwarder)).excerpt).toHaveLength(16_384);
    expect(receiver.requests[1]!.peerPort).toBe(receiver.requests[0]!.peerPort);
  });

  it("truncates a response of 100 MB after 16 KiB, between characters, and continues", async () => {
    let written = 0;
    const chunk = Buffer.from("é".repeat(32_768));
    const receiver = await startReceiver((response) => {
      const write = () => {
        while (!response.destroyed && written < 100_000_000) {
          written += chunk.length;
          if (!response.write(written === chunk.length ? Buffer.concat([Buffer.from("a"), chunk]) : chunk)) break;
        }
      };
      response.on("drain", write);
      write();
    });
    const forwarder = openForwarder({ url: receiver.url });
    const result = await send(forwarder);
    expect(result.status).toBe(200);
    expect(result.excerpt).toBe(`a${"é".repeat(8_191)}`);
    expect(written).toBeLessThan(50_000_000);
    written = 0;
    expect((await send(forwarder)).status).toBe(200);
    expect(receiver.requests[1]!.peerPort).not.toBe(receiver.requests[0]!.peerPort);
  });

  it("skips interim responses, an unexpected 100 Continue among them", async () => {
    const receiver = await startRawReceiver((socket) =>
      socket.write(
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" +
          "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
      ),
    );
    const forwarder = openForwarder({ url: receiver.url, clock: new FakeClock() });
    for (let i = 0; i < 2; i += 1) expect(await send(forwarder)).toMatchObject({ status: 200, excerpt: "ok" });
    expect(receiver.connections()).toBe(1);
  });
});

describe("a reused connection", () => {
  it("is not used after the receiver has closed it", async () => {
    let closed: Promise<unknown> | undefined;
    const receiver = await startRawReceiver((socket) => {
      closed = once(socket, "close");
      socket.end("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    });
    const forwarder = openForwarder({ url: receiver.url });
    expect((await send(forwarder)).status).toBe(200);
    await closed;
    expect((await send(forwarder)).status).toBe(200);
    expect(receiver.connections()).toBe(2);
  });

  it("is not used after it was idle for a second", async () => {
    const clock = new FakeClock();
    const receiver = await startReceiver();
    const forwarder = openForwarder({ url: receiver.url, clock });
    await send(forwarder);
    clock.advance(1000);
    await send(forwarder);
    clock.advance(1001);
    await send(forwarder);
    const [first, second, third] = receiver.requests.map(({ peerPort }) => peerPort);
    expect(second).toBe(first);
    expect(third).not.toBe(first);
  });

  it.each([
    ["resets", (socket: Socket) => socket.resetAndDestroy()],
    ["ends", (socket: Socket) => socket.end()],
    ["breaks off its response on", (socket: Socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n")],
  ])("fails the forward, which is not sent again, if the receiver %s", async (_what, end) => {
    let requests = 0;
    const receiver = await startRawReceiver((socket) => {
      requests += 1;
      if (requests > 1) end(socket);
      else socket.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    });
    const forwarder = openForwarder({ url: receiver.url, clock: new FakeClock() });
    expect((await send(forwarder)).status).toBe(200);
    expect((await send(forwarder)).failure).toMatchObject({ code: "connection_closed" });
    expect({ requests, connections: receiver.connections() }).toEqual({ requests: 2, connections: 1 });
  });
});
