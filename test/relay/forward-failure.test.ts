import { describe, expect, it } from "vitest";
import type { ForwardResult } from "../../src/relay/forwarder.ts";
import { systemClock } from "../../src/network/clock.ts";
import { freePort } from "../support/free-port.ts";
import { FakeClock } from "./support/fake-clock.ts";
import { startHesitantReceiver, startRawReceiver, startReceiver } from "./support/receivers.ts";
import { EVENT, openForwarder, send } from "./support/forwarder.ts";

describe("a forward fails with a message", () => {
  it("when nothing listens", async () => {
    const port = await freePort();
    const { failure, status } = await send(openForwarder({ url: new URL(`http://localhost:${port}`) }));
    expect(status).toBeUndefined();
    expect(failure).toEqual({
      code: "connection_refused",
      message: `connection refused: nothing listens on 127.0.0.1:${port} or [::1]:${port}`,
      hint: expect.stringContaining(String(port)),
      brief: `nothing listens on port ${port}`,
    });
  });

  it("when the host name is unknown", async () => {
    const { failure } = await send(openForwarder({ url: new URL("http://nothing.invalid:3000") }));
    expect(failure).toMatchObject({ code: "dns", message: expect.stringContaining("nothing.invalid:3000") });
  });

  it("when the receiver does not respond within 10 s", async () => {
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

  it("when no connection is established within 10 s, and is not sent later", async () => {
    const clock = new FakeClock();
    const receiver = await startHesitantReceiver();
    const forwarder = openForwarder({ url: receiver.url, skipVerify: true, clock });
    const sent = send(forwarder, { id: "first" });
    const socket = await receiver.connected();
    const closed = new Promise((resolve) => socket.once("close", resolve));
    clock.advance(10_000);
    expect((await sent).failure).toMatchObject({
      code: "timeout",
      message: expect.stringContaining("did not respond"),
    });
    receiver.greet();
    await closed;
    expect(await send(forwarder, { id: "second" })).toMatchObject({ status: 200 });
    expect(receiver.requests).toEqual(["second"]);
  });

  it("when the response arrives byte by byte", async () => {
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

  it("with a separate time limit for each forward", async () => {
    const clock = new FakeClock();
    const receiver = await startReceiver((response, { headers }) => {
      if (headers["service-event-id"] === "quick") response.end();
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

  it("with its own time limit if a newer forward began when another ended", async () => {
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

  it("when the response is too late although no timer has fired yet", async () => {
    const clock = { ...systemClock, elapsed: () => now, after: () => () => {} };
    let now = 0;
    const receiver = await startReceiver((response) => {
      now = 10_001;
      response.end();
    });
    expect((await send(openForwarder({ url: receiver.url, clock }))).failure).toMatchObject({ code: "timeout" });
  });

  it("when the connection is reset", async () => {
    const receiver = await startRawReceiver((socket) => socket.resetAndDestroy());
    expect((await send(openForwarder({ url: receiver.url }))).failure).toMatchObject({ code: "connection_closed" });
    expect(receiver.connections()).toBe(1);
  });

  it("when the connection is closed without or during a response", async () => {
    for (const response of ["", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"]) {
      const receiver = await startRawReceiver((socket) => socket.end(response));
      const { failure, status } = await send(openForwarder({ url: receiver.url }));
      expect(status).toBeUndefined();
      expect(failure?.code).toMatch(/^(connection_closed|invalid_response)$/);
    }
  });

  it.each([
    ["a header with a space in its name", "HTTP/1.1 200 OK\r\nBad Name: 1\r\n\r\n"],
    ["no HTTP", "SSH-2.0-OpenSSH_9.6\r\n"],
    ["a broken chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"],
    ["two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"],
    ["headers without end", `HTTP/1.1 200 OK\r\nX-Long: ${"x".repeat(70_000)}\r\n\r\n`],
    ["an unrequested upgrade", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"],
  ])("when the response is %s", async (_what, bytes) => {
    const receiver = await startRawReceiver((socket) => socket.write(bytes));
    const { failure, status } = await send(openForwarder({ url: receiver.url }));
    expect(status).toBeUndefined();
    expect(failure).toMatchObject({ code: "invalid_response", hint: expect.any(String) });
  });

  it("when the certificate is self-signed, unless verification is skipped", async () => {
    const receiver = await startReceiver(undefined, "127.0.0.1", true);
    const { failure } = await send(openForwarder({ url: receiver.url }));
    expect(failure).toMatchObject({ code: "tls", message: expect.stringContaining("self-signed") });
    expect(await send(openForwarder({ url: receiver.url, skipVerify: true }))).toMatchObject({ status: 200 });
  });

  it("when only one side uses TLS", async () => {
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
