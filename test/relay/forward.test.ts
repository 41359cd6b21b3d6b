import { describe, expect, it, onTestFinished } from "vitest";
import type { ForwardResult } from "../../src/relay/exchange.ts";
import { type Envelope, Forwarder, type ForwarderOptions } from "../../src/relay/forward.ts";
import { systemClock } from "../../src/relay/ports.ts";
import { sign, verifySignature } from "../../src/webhooks/index.ts";
import { FakeClock } from "./support/fake-clock.ts";
import { closedPort, startHesitantReceiver, startRawReceiver, startReceiver } from "./support/receivers.ts";

interface Sent extends Envelope {
  body: Uint8Array;
}

const EVENT: Sent = { id: "evt_1", body: Buffer.from('{"id":"evt_1"}'), signature: "t=1,v1=0", attempt: 1 };
const SECRET = "whsec_test";

describe("a forward", () => {
  it("carries the exact bytes and the headers of a delivery", async () => {
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

  it("keeps connections, one for each forward at once", async () => {
    const receiver = await startReceiver((reply) => void receiver.received(8).then(() => reply.end()));
    const forwarder = openForwarder({ url: receiver.url });
    await Promise.all(Array.from({ length: 8 }, () => send(forwarder)));
    for (let i = 0; i < 8; i += 1) await send(forwarder);
    expect(receiver.requests).toHaveLength(16);
    expect(new Set(receiver.requests.map(({ peerPort }) => peerPort)).size).toBe(8);
  });

  it.each([204, 200, 299])("takes an answer of %i without a body", async (status) => {
    const receiver = await startReceiver((reply) => reply.writeHead(status).end());
    const result = await send(openForwarder({ url: receiver.url }));
    expect(result).toEqual({ status, durationMs: expect.any(Number), excerpt: "" });
  });

  it("shows what the receiver says", async () => {
    const receiver = await startReceiver((reply) => reply.writeHead(500).end("no such table: orders"));
    expect(await send(openForwarder({ url: receiver.url }))).toMatchObject({
      status: 500,
      excerpt: "no such table: orders",
    });
  });

  it.each([301, 302, 303, 307, 308])("does not follow a %i", async (status) => {
    const trap = await startReceiver();
    const receiver = await startReceiver((reply) => reply.writeHead(status, { location: trap.url.href }).end());
    const result = await send(openForwarder({ url: receiver.url }));
    expect(result).toMatchObject({ status, location: trap.url.href });
    expect(trap.requests).toHaveLength(0);
  });

  it("reads a reply of exactly 16 KiB and keeps the connection", async () => {
    const receiver = await startReceiver((reply) => reply.end("x".repeat(16_384)));
    const forwarder = openForwarder({ url: receiver.url });
    for (let i = 0; i < 2; i += 1) expect((await send(forwarder)).excerpt).toHaveLength(16_384);
    expect(receiver.requests[1]!.peerPort).toBe(receiver.requests[0]!.peerPort);
  });

  it("cuts a reply of 100 MB off after 16 KiB, between characters, and goes on", async () => {
    let written = 0;
    const chunk = Buffer.from("é".repeat(32_768));
    const receiver = await startReceiver((reply) => {
      const write = () => {
        while (!reply.destroyed && written < 100_000_000) {
          written += chunk.length;
          if (!reply.write(written === chunk.length ? Buffer.concat([Buffer.from("a"), chunk]) : chunk)) break;
        }
      };
      reply.on("drain", write);
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

  it("takes interim replies, but not one that nobody asked for", async () => {
    const hints = await startRawReceiver((socket) =>
      socket.write("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
    );
    expect(await send(openForwarder({ url: hints.url }))).toMatchObject({ status: 200, excerpt: "ok" });
    const continues = await startRawReceiver((socket) =>
      socket.write("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
    );
    expect((await send(openForwarder({ url: continues.url }))).failure).toMatchObject({ code: "invalid_reply" });
  });
});

describe("a forward fails in words", () => {
  it("when nothing listens", async () => {
    const port = await closedPort();
    const { failure, status } = await send(openForwarder({ url: new URL(`http://localhost:${port}`) }));
    expect(status).toBeUndefined();
    expect(failure).toEqual({
      code: "refused",
      message: `connection refused: nothing listens on 127.0.0.1:${port} or [::1]:${port}`,
      hint: expect.stringContaining(String(port)),
    });
  });

  it("when the host name is unknown", async () => {
    const { failure } = await send(openForwarder({ url: new URL("http://nothing.invalid:3000") }));
    expect(failure).toMatchObject({ code: "dns", message: expect.stringContaining("nothing.invalid:3000") });
  });

  it("when the receiver never answers, after 10 s", async () => {
    const clock = new FakeClock();
    const receiver = await startReceiver(() => {});
    const sent = send(openForwarder({ url: receiver.url, clock }));
    await receiver.received(1);
    clock.advance(9_999);
    clock.advance(1);
    const { failure, durationMs } = await sent;
    expect(failure).toMatchObject({ code: "timeout", message: expect.stringContaining("within 10 s") });
    expect(durationMs).toBe(10_000);
  });

  it("when no connection comes about, after 10 s, and is not sent by that connection later", async () => {
    const clock = new FakeClock();
    const receiver = await startHesitantReceiver();
    const forwarder = openForwarder({ url: receiver.url, skipVerify: true, clock });
    const sent = send(forwarder, { id: "first" });
    const socket = await receiver.connected();
    const closed = new Promise((resolve) => socket.once("close", resolve));
    clock.advance(10_000);
    expect((await sent).failure).toMatchObject({ code: "timeout", message: expect.stringContaining("did not answer") });
    receiver.greet();
    await closed;
    expect(await send(forwarder, { id: "second" })).toMatchObject({ status: 200 });
    expect(receiver.requests).toEqual(["second"]);
  });

  it("when the reply drips a byte at a time", async () => {
    const clock = new FakeClock();
    const receiver = await startRawReceiver((socket) => {
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n");
      const drip = () => {
        clock.advance(1_000);
        if (!socket.destroyed) socket.write("x", () => setImmediate(drip));
      };
      setImmediate(drip);
    });
    const { failure, status, durationMs } = await send(openForwarder({ url: receiver.url, clock }));
    expect(status).toBeUndefined();
    expect(failure).toMatchObject({ code: "timeout", message: expect.stringMatching(/did not/) });
    expect(durationMs).toBe(10_000);
  });

  it("counts the time limit of each forward for itself", async () => {
    const clock = new FakeClock();
    const receiver = await startReceiver((reply, { headers }) => {
      if (headers["service-event-id"] === "quick") reply.end();
    });
    const forwarder = openForwarder({ url: receiver.url, clock });
    const first = send(forwarder, { id: "first" });
    clock.advance(4_000);
    await send(forwarder, { id: "quick" });
    const second = send(forwarder, { id: "second" });
    await receiver.received(3);
    clock.advance(6_000);
    expect((await first).durationMs).toBe(10_000);
    clock.advance(3_999);
    const third = send(forwarder, { id: "third" });
    clock.advance(1);
    expect((await second).durationMs).toBe(10_000);
    clock.advance(9_999);
    expect((await third).durationMs).toBe(10_000);
  });

  it("counts the time limit of a forward that is older than one begun at another's end", async () => {
    const clock = new FakeClock();
    const receiver = await startReceiver(() => {});
    const forwarder = openForwarder({ url: receiver.url, clock });
    const first = send(forwarder, { id: "first" });
    let begunAtEnd: Promise<ForwardResult> | undefined;
    forwarder.forward({ headers: forwarder.headersOf({ ...EVENT, id: "second" }), body: EVENT.body }, () => {
      begunAtEnd = send(forwarder);
    });
    clock.advance(4_000);
    const older = send(forwarder, { id: "older" });
    await receiver.received(3);
    clock.advance(6_000);
    await first;
    clock.advance(4_000);
    expect((await older).durationMs).toBe(10_000);
    clock.advance(6_000);
    expect((await begunAtEnd)?.durationMs).toBe(10_000);
  });

  it("when the answer comes too late although no timer has fired yet", async () => {
    const clock = { ...systemClock, now: () => now, after: () => () => {} };
    let now = 0;
    const receiver = await startReceiver((reply) => {
      now = 10_001;
      reply.end();
    });
    expect((await send(openForwarder({ url: receiver.url, clock }))).failure).toMatchObject({ code: "timeout" });
  });

  it("when the connection is reset", async () => {
    const receiver = await startRawReceiver((socket) => socket.resetAndDestroy());
    expect((await send(openForwarder({ url: receiver.url }))).failure).toMatchObject({ code: "reset" });
    expect(receiver.connections()).toBe(1);
  });

  it("when the connection is closed without or within a reply", async () => {
    for (const reply of ["", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"]) {
      const receiver = await startRawReceiver((socket) => socket.end(reply));
      const { failure, status } = await send(openForwarder({ url: receiver.url }));
      expect(status).toBeUndefined();
      expect(failure?.code).toMatch(/^(reset|invalid_reply)$/);
    }
  });

  it.each([
    ["a header with a space in its name", "HTTP/1.1 200 OK\r\nBad Name: 1\r\n\r\n"],
    ["no HTTP", "SSH-2.0-OpenSSH_9.6\r\n"],
    ["a broken chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"],
    ["two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"],
    ["headers without end", `HTTP/1.1 200 OK\r\nX-Long: ${"x".repeat(70_000)}\r\n\r\n`],
    [
      "an upgrade that nobody asked for",
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
    ],
  ])("when the reply is %s", async (_what, bytes) => {
    const receiver = await startRawReceiver((socket) => socket.write(bytes));
    const { failure, status } = await send(openForwarder({ url: receiver.url }));
    expect(status).toBeUndefined();
    expect(failure).toMatchObject({ code: "invalid_reply", hint: expect.any(String) });
  });

  it("when the certificate is self-signed, unless told not to look", async () => {
    const receiver = await startReceiver(undefined, "127.0.0.1", true);
    const { failure } = await send(openForwarder({ url: receiver.url }));
    expect(failure).toMatchObject({ code: "tls", message: expect.stringContaining("self-signed") });
    expect(await send(openForwarder({ url: receiver.url, skipVerify: true }))).toMatchObject({ status: 200 });
  });

  it("when one side speaks TLS and the other does not", async () => {
    const plain = await startReceiver();
    const overTls = new URL(plain.url);
    overTls.protocol = "https:";
    expect((await send(openForwarder({ url: overTls }))).failure).toMatchObject({ code: "tls" });
    const secure = await startReceiver(undefined, "127.0.0.1", true);
    const overTcp = new URL(secure.url);
    overTcp.protocol = "http:";
    const { failure } = await send(openForwarder({ url: overTcp }));
    expect(failure?.hint).toContain("https://");
  });
});

describe("localhost", () => {
  it.each(["127.0.0.1", "::1"])("is found on %s alone", async (host) => {
    const receiver = await startReceiver(undefined, host);
    const result = await send(openForwarder({ url: new URL(`http://localhost:${receiver.port}`) }));
    expect(result.status).toBe(200);
  });
});

describe("a kept connection that the receiver lets go of", () => {
  it("is replaced without a word", async () => {
    const receiver = await startRawReceiver((socket) => {
      if (served.has(socket)) return void socket.resetAndDestroy();
      served.add(socket);
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    });
    const served = new Set<unknown>();
    const forwarder = openForwarder({ url: receiver.url });
    expect((await send(forwarder)).status).toBe(200);
    expect((await send(forwarder)).status).toBe(200);
    expect(receiver.connections()).toBe(2);
  });

  it("is not replaced once it has begun to reply", async () => {
    let answered = false;
    const receiver = await startRawReceiver((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${answered ? 9 : 0}\r\n\r\n`, () => {
        if (answered) socket.end();
        answered = true;
      });
    });
    const forwarder = openForwarder({ url: receiver.url });
    await send(forwarder);
    expect((await send(forwarder)).failure).toMatchObject({ code: "reset" });
    expect(receiver.connections()).toBe(1);
  });

  it("is not replaced twice for one event", async () => {
    let answered = false;
    const receiver = await startRawReceiver((socket) => {
      if (answered) return void socket.resetAndDestroy();
      answered = true;
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    });
    const forwarder = openForwarder({ url: receiver.url });
    await send(forwarder);
    expect((await send(forwarder)).failure).toMatchObject({ code: "reset" });
    expect(receiver.connections()).toBe(2);
  });
});

function openForwarder(options: Omit<ForwarderOptions, "clock"> & Partial<ForwarderOptions>): Forwarder {
  const forwarder = new Forwarder({ clock: systemClock, ...options });
  onTestFinished(() => forwarder.close());
  return forwarder;
}

function send(forwarder: Forwarder, changes: Partial<Sent> = {}): Promise<ForwardResult> {
  const { body, ...envelope } = { ...EVENT, ...changes };
  return new Promise((resolve) => forwarder.forward({ headers: forwarder.headersOf(envelope), body }, resolve));
}
