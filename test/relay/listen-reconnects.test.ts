import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LIMITS } from "../../src/contract/limits.ts";
import { freePort } from "../support/free-port.ts";
import { FakeClock } from "./support/fake-clock.ts";
import { FakePlatform, type FakeSession } from "./support/fake-platform.ts";
import { startRun } from "./support/start-run.ts";
import { startReceiver } from "./support/receivers.ts";
import { bye, READY } from "./support/frames.ts";
import { respond, PROBLEM } from "./support/upgrade-response.ts";

describe("an upgrade that fails temporarily", () => {
  it.each([
    [500, "application/problem+json", JSON.stringify({ ...PROBLEM, detail: "It broke." }), "500: It broke."],
    [502, "text/html", "<h1>Bad gateway</h1>", "returned a web page"],
    [200, "text/html; charset=utf-8", "<h1>Welcome to Hotel WiFi</h1>", "returned a web page"],
    [503, "text/plain", "no", "returned 503"],
    [301, "text/plain", "", "redirects (301)"],
    [408, "text/plain", "no", "returned 408"],
  ])("is retried: %i %s", async (status, type, body, message) => {
    const platform = await FakePlatform.start({
      intercept: (_request, stream) => platform.upgrades.length < 3 && respond(stream, status, type, body),
    });
    const { reports } = startRun(platform);
    await reports.wait("ready");
    expect(reports.of("retrying")).toMatchObject([
      { failures: 1, reason: { code: "http_status", message: expect.stringContaining(message) } },
      { failures: 2 },
    ]);
  });

  it.each([
    ["7", 7_000],
    ["86400", 30_000],
    ["Wed, 21 Oct 2026 07:28:00 GMT", 0],
  ])("is retried according to Retry-After: %s", async (value, wait) => {
    const clock = new FakeClock();
    const platform = await FakePlatform.start({
      intercept: (_request, stream) =>
        platform.upgrades.length < 2 && respond(stream, 429, "text/plain", "slow", `Retry-After: ${value}\r\n`),
    });
    const { reports } = startRun(platform, { clock });
    expect(await reports.wait("retrying")).toMatchObject({ retryInMs: wait });
    clock.advance(wait);
    await reports.wait("ready");
  });

  it("starts at the same time in the past, however long the platform takes to accept it", async () => {
    const clock = new FakeClock();
    const starts: (string | null)[] = [];
    const platform = await FakePlatform.start({
      intercept: (request, stream) => {
        starts.push(new URL(request.url!, "http://platform").searchParams.get("after"));
        return starts.length < 3 && respond(stream, 503, "text/plain", "busy");
      },
    });
    const { reports } = startRun(platform, { after: "-600", clock });
    for (let failures = 1; failures < 3; failures++) {
      await reports.wait("retrying", failures);
      clock.advance(30_000);
    }
    await reports.wait("ready");
    expect(starts).toEqual(["-600", "-630", "-660"]);
  });

  it("is delayed for a platform that accepts and disconnects, until a connection is used or lasts", async () => {
    const clock = new FakeClock();
    const platform = await FakePlatform.start();
    const { reports } = startRun(platform, { clock, random: () => 0.5 });
    await reports.wait("ready");
    const waits: number[] = [];
    for (let round = 1; round <= 9; round += 1) {
      if (round === 5) clock.advance(10_000);
      if (round === 8) {
        platform.append();
        await reports.wait("received");
        // Until the acknowledgement is sent, and until the client asks for its confirmation.
        clock.advance(2);
        await platform.until(() => platform.acknowledgements.length === 1);
        clock.advance(50);
        await platform.session.confirmed();
      }
      platform.cut();
      const { retryInMs } = await reports.wait("lost", round);
      waits.push(retryInMs);
      clock.advance(retryInMs);
      await platform.until(() => platform.sessions.length === round + 1);
      await platform.session.roundTrip();
    }
    expect(waits).toEqual([125, 250, 500, 1_000, 125, 250, 500, 125, 250]);
  });

  it("is retried when the response never ends", async () => {
    const clock = new FakeClock();
    const platform = await FakePlatform.start({
      intercept: (_request, stream) =>
        platform.upgrades.length < 2 && stream.write("HTTP/1.1 503 No\r\nContent-Length: 10\r\n\r\nabc") !== undefined,
    });
    const { reports } = startRun(platform, { clock });
    await platform.until(() => platform.upgrades.length === 1);
    clock.advance(10_000);
    expect((await reports.wait("retrying")).reason.code).toBe("timeout");
    clock.advance(0);
    await reports.wait("ready");
  });

  it.each([
    ["no subprotocol", "Sec-WebSocket-Accept: x\r\n"],
    ["a wrong key", "Sec-WebSocket-Accept: x\r\nSec-WebSocket-Protocol: service.listen.v1\r\n"],
  ])("is retried when the server is not a platform: %s", async (_what, lines) => {
    const platform = await FakePlatform.start({
      intercept: (_request, stream) =>
        platform.upgrades.length < 2 &&
        stream.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n${lines}\r\n`),
    });
    const { reports } = startRun(platform);
    await reports.wait("ready");
    expect(reports.of("retrying")).toMatchObject([{ reason: { code: "protocol" } }]);
  });

  it("distinguishes an unreachable platform from an unknown host name", async () => {
    const platform = await FakePlatform.start();
    const port = await freePort();
    const options = { clock: new FakeClock(), baseUrl: new URL(`http://127.0.0.1:${port}`) };
    expect((await startRun(platform, options).reports.wait("retrying")).reason).toEqual({
      code: "connection_refused",
      message: `connection refused: nothing listens on 127.0.0.1:${port}`,
    });
    const unknown = startRun(platform, { ...options, baseUrl: new URL("http://platform.invalid") });
    expect((await unknown.reports.wait("retrying")).reason.code).toBe("dns");
  });

  it("is delayed longer after each failure, with full jitter", async () => {
    const platform = await FakePlatform.start();
    const baseUrl = new URL(`http://127.0.0.1:${await freePort()}`);
    await fc.assert(
      fc.asyncProperty(fc.double({ min: 0, max: 0.999, noNaN: true }), async (fraction) => {
        const clock = new FakeClock();
        const { reports, run } = startRun(platform, { clock, baseUrl, random: () => fraction });
        for (let failures = 1; failures <= 9; failures += 1) {
          const { retryInMs } = await reports.wait("retrying", failures);
          expect(retryInMs).toBeCloseTo(fraction * Math.min(5000, 250 * 2 ** (failures - 1)));
          clock.advance(retryInMs);
        }
        await run.stop();
      }),
      { numRuns: 10 },
    );
  });
});

describe("a connection is replaced", () => {
  const faults: [string, (session: FakeSession) => void, string, RegExp][] = [
    ["a frame is not JSON", ({ socket }) => socket.send("{"), "protocol", /not JSON/],
    ["a frame is not an object", ({ socket }) => socket.send("null"), "protocol", /not a JSON object/],
    ["a frame is unknown", ({ socket }) => socket.send('{"frame":"hello"}'), "protocol", /unknown frame/],
    [
      "a field is missing",
      ({ socket }) => socket.send('{"frame":"events","events":[{"seq":1}]}'),
      "protocol",
      /id is not a valid event ID/,
    ],
    ["a frame is binary", ({ socket }) => socket.send(Buffer.from("{}")), "protocol", /binary/],
    ["a frame is too large", ({ socket }) => socket.send(" ".repeat(9_000_000)), "protocol", /payload/],
    ["ready comes twice", (s) => s.send(READY), "protocol", /second ready/],
    ["the platform restarts", ({ socket }) => socket.close(1012), "closed", /1012, restarting/],
    ["the platform is overloaded", ({ socket }) => socket.close(1013, "busy"), "closed", /1013, busy/],
    ["the policy is broken", ({ socket }) => socket.close(1008), "closed", /1008/],
    ["the socket is cut", ({ socket }) => socket.terminate(), "connection_closed", /lost/],
    ["the platform says goodbye for now", (s) => s.send(bye("shutting_down")), "bye", /ended the session: later/],
    ["the credential has expired", (s) => s.send(bye("expired_credential")), "bye", /later/],
  ];

  it.each(faults)("when %s", async (_what, fault, code, message) => {
    const platform = await FakePlatform.start();
    const { reports } = startRun(platform);
    await reports.wait("ready");
    fault(platform.session);
    const { reason } = await reports.wait("lost");
    expect(reason).toEqual({ code, message: expect.stringMatching(message) });
    await platform.until(() => platform.sessions.length === 2);
    const { id } = platform.append();
    await platform.until(() => platform.acknowledged(id).length > 0);
    expect(reports.of("ready")).toHaveLength(1);
  });

  it.each([
    ["events come before ready", { frame: "events", events: [{ seq: 1, id: "evt_1", type: "a", body: "{}" }] }],
    ["ready holds no secret", { ...READY, secret: " " }],
  ])("when %s", async (_what, frame) => {
    const platform = await FakePlatform.start();
    platform.opening = (session) => {
      platform.opening = undefined;
      session.socket.send(JSON.stringify(frame));
    };
    const { reports } = startRun(platform);
    await reports.wait("ready");
    expect(reports.of("retrying")).toMatchObject([{ reason: { code: "protocol" } }]);
  });

  it("when ready does not come within 10 s", async () => {
    const clock = new FakeClock();
    const platform = await FakePlatform.start();
    platform.opening = () => (platform.opening = undefined);
    const { reports } = startRun(platform, { clock });
    await platform.until(() => platform.sessions.length === 1);
    clock.advance(10_000);
    expect((await reports.wait("retrying")).reason.code).toBe("timeout");
    clock.advance(0);
    await reports.wait("ready");
  });

  it("when the platform overruns the window", async () => {
    const platform = await FakePlatform.start({ window: Infinity });
    const { reports } = startRun(platform, { target: (await startReceiver(() => {})).url, clock: new FakeClock() });
    await reports.wait("ready");
    for (let i = 0; i <= LIMITS.maxListenWindow; i += 1) platform.append();
    expect((await reports.wait("lost")).reason).toMatchObject({
      code: "protocol",
      message: expect.stringContaining("4096"),
    });
  });
});

describe("a limited downtime", () => {
  it("ends a session that never connects", async () => {
    const clock = new FakeClock();
    const platform = await FakePlatform.start();
    const baseUrl = new URL(`http://127.0.0.1:${await freePort()}`);
    const { reports, run } = startRun(platform, { clock, baseUrl, maxDowntimeMs: 60_000, random: () => 0.999 });
    for (let failures = 1; reports.of("summary").length === 0; failures += 1) {
      const { retryInMs } = await Promise.race([
        reports.wait("retrying", failures),
        run.ended.then(() => ({ retryInMs: 0 })),
      ]);
      clock.advance(retryInMs);
    }
    expect((await run.ended).error).toMatchObject({ code: "downtime", message: expect.stringContaining("60 s") });
    expect(clock.elapsed()).toBeLessThanOrEqual(90_000);
  });

  it("starts again at each loss", async () => {
    const clock = new FakeClock();
    let rejecting = false;
    const platform = await FakePlatform.start({
      intercept: (_request, stream) => rejecting && respond(stream, 503, "text/plain", "no"),
    });
    const { reports, run } = startRun(platform, { clock, maxDowntimeMs: 60_000, random: () => 0.999 });
    await reports.wait("ready");
    clock.advance(20_000);
    platform.cut();
    await reports.wait("lost");
    clock.advance(1_000);
    await platform.until(() => platform.sessions.length === 2);
    rejecting = true;
    platform.cut();
    await reports.wait("lost", 2);
    const lostAt = clock.elapsed();
    clock.advance(59_000);
    await new Promise(setImmediate);
    expect(reports.of("summary")).toEqual([]);
    clock.advance(1_000);
    expect((await run.ended).error).toMatchObject({ code: "downtime" });
    expect(clock.elapsed() - lostAt).toBe(60_000);
  });
});
