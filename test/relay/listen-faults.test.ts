import type { Duplex } from "node:stream";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ReadyFrame } from "../../src/contract/listen.ts";
import { ListenError } from "../../src/relay/listen-error.ts";
import { FakeClock } from "./support/fake-clock.ts";
import { FakePlatform, type FakeSession } from "./support/fake-platform.ts";
import { openSession } from "./support/open-session.ts";
import { closedPort, startReceiver } from "./support/receivers.ts";

const READY: ReadyFrame = {
  frame: "ready",
  session: "lsn_1",
  secret: "whsec_1",
  cursor: "evt_1",
  account: "acct_1",
  environment: "sandbox",
  subscriptions: ["*"],
  others: 0,
};

const PROBLEM = {
  type: "about:blank",
  title: "No",
  status: 0,
  detail: "The key was revoked.",
  code: "x",
  request_id: "req_1",
};

describe("an upgrade that is refused for good", () => {
  it.each([
    [401, "unauthorized"],
    [403, "forbidden"],
    [400, "rejected"],
    [404, "rejected"],
    [407, "rejected"],
    [426, "rejected"],
  ])("ends the session: %i is %s", async (status, code) => {
    const problem = { ...PROBLEM, status };
    const platform = await FakePlatform.start({
      intercept: (_request, stream) => answer(stream, status, "application/problem+json", JSON.stringify(problem)),
    });
    const { session, reports } = openSession(platform);
    const { error } = await session.ended;
    expect(error).toBeInstanceOf(ListenError);
    expect(error).toMatchObject({ code, status, problem, message: expect.stringContaining("The key was revoked.") });
    expect(platform.upgrades).toHaveLength(1);
    expect(reports.all.map(({ event }) => event)).toEqual(["summary"]);
  });

  it.each([
    ["application/problem+json", "{"],
    ["application/problem+json", "[1]"],
    ["application/problem+json", "null"],
    ["text/html", "<h1>Sign in</h1>"],
    ["application/problem+json", JSON.stringify({ ...PROBLEM, detail: "x".repeat(100_000) })],
  ])("tells the status where the body is no problem document: %s", async (type, body) => {
    const platform = await FakePlatform.start({ intercept: (_request, stream) => answer(stream, 403, type, body) });
    const { error } = await openSession(platform).session.ended;
    expect(error).toMatchObject({ code: "forbidden", status: 403, problem: undefined });
  });

  it("ends a session that was ready before, after what is under way", async () => {
    let revoked = false;
    const platform = await FakePlatform.start({
      intercept: (_request, stream) => revoked && answer(stream, 401, "text/plain", "no"),
    });
    const held: (() => void)[] = [];
    const receiver = await startReceiver((reply) => held.push(() => reply.end()));
    const { session, reports } = openSession(platform, { target: receiver.url });
    await reports.wait("ready");
    platform.append();
    await receiver.received(1);
    revoked = true;
    platform.cut();
    await platform.until(() => platform.upgrades.length === 2);
    held[0]!();
    const { error, summary } = await session.ended;
    expect(error).toMatchObject({ status: 401 });
    expect(summary).toMatchObject({ received: 1, forwarded: 1 });
  });
});

describe("an upgrade that fails", () => {
  it.each([
    [500, "application/problem+json", JSON.stringify({ ...PROBLEM, detail: "It broke." }), "500: It broke."],
    [502, "text/html", "<h1>Bad gateway</h1>", "a web page came"],
    [200, "text/html; charset=utf-8", "<h1>Welcome to Hotel WiFi</h1>", "a web page came"],
    [503, "text/plain", "no", "answered 503"],
    [301, "text/plain", "", "redirects (301)"],
    [408, "text/plain", "no", "answered 408"],
  ])("is tried again: %i %s", async (status, type, body, words) => {
    const platform = await FakePlatform.start({
      intercept: (_request, stream) => platform.upgrades.length < 3 && answer(stream, status, type, body),
    });
    const { reports } = openSession(platform);
    await reports.wait("ready");
    expect(reports.of("retrying")).toMatchObject([
      { failures: 1, reason: { code: "http_status", message: expect.stringContaining(words) } },
      { failures: 2 },
    ]);
  });

  it.each([
    ["7", 7_000],
    ["86400", 30_000],
    ["Wed, 21 Oct 2026 07:28:00 GMT", 0],
  ])("obeys Retry-After: %s", async (value, wait) => {
    const clock = new FakeClock();
    const platform = await FakePlatform.start({
      intercept: (_request, stream) =>
        platform.upgrades.length < 2 && answer(stream, 429, "text/plain", "slow", `Retry-After: ${value}\r\n`),
    });
    const { reports } = openSession(platform, { clock });
    expect(await reports.wait("retrying")).toMatchObject({ retryInMs: wait });
    clock.advance(wait);
    await reports.wait("ready");
  });

  it("waits longer for a platform that accepts and breaks off, until a connection does something or holds", async () => {
    const clock = new FakeClock();
    const platform = await FakePlatform.start();
    const { reports } = openSession(platform, { clock, random: () => 0.5 });
    await reports.wait("ready");
    const waits: number[] = [];
    for (let round = 1; round <= 9; round += 1) {
      if (round === 5) clock.advance(10_000);
      if (round === 8) {
        platform.append();
        await reports.wait("received");
        // Until the acknowledgement is sent, and until the client asks whether it was read.
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

  it("is tried again when the reply never ends", async () => {
    const clock = new FakeClock();
    const platform = await FakePlatform.start({
      intercept: (_request, stream) =>
        platform.upgrades.length < 2 && stream.write("HTTP/1.1 503 No\r\nContent-Length: 10\r\n\r\nabc") !== undefined,
    });
    const { reports } = openSession(platform, { clock });
    await platform.until(() => platform.upgrades.length === 1);
    clock.advance(10_000);
    expect((await reports.wait("retrying")).reason.code).toBe("timeout");
    clock.advance(0);
    await reports.wait("ready");
  });

  it.each([
    ["no subprotocol", "Sec-WebSocket-Accept: x\r\n"],
    ["a wrong key", "Sec-WebSocket-Accept: x\r\nSec-WebSocket-Protocol: service.listen.v1\r\n"],
  ])("is tried again when it is no platform: %s", async (_what, lines) => {
    const platform = await FakePlatform.start({
      intercept: (_request, stream) =>
        platform.upgrades.length < 2 &&
        stream.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n${lines}\r\n`),
    });
    const { reports } = openSession(platform);
    await reports.wait("ready");
    expect(reports.of("retrying")).toMatchObject([{ reason: { code: "protocol" } }]);
  });

  it("tells a platform that is not there from one whose name is unknown", async () => {
    const platform = await FakePlatform.start();
    const port = await closedPort();
    const options = { clock: new FakeClock(), baseUrl: new URL(`http://127.0.0.1:${port}`) };
    expect((await openSession(platform, options).reports.wait("retrying")).reason).toEqual({
      code: "refused",
      message: `connection refused: nothing listens on 127.0.0.1:${port}`,
    });
    const unknown = openSession(platform, { ...options, baseUrl: new URL("http://platform.invalid") });
    expect((await unknown.reports.wait("retrying")).reason.code).toBe("dns");
  });

  it("waits longer after each failure, with full jitter", async () => {
    const platform = await FakePlatform.start();
    const baseUrl = new URL(`http://127.0.0.1:${await closedPort()}`);
    await fc.assert(
      fc.asyncProperty(fc.double({ min: 0, max: 0.999, noNaN: true }), async (fraction) => {
        const clock = new FakeClock();
        const { reports, session } = openSession(platform, { clock, baseUrl, random: () => fraction });
        for (let failures = 1; failures <= 9; failures += 1) {
          const { retryInMs } = await reports.wait("retrying", failures);
          expect(retryInMs).toBeCloseTo(fraction * Math.min(30_000, 250 * 2 ** (failures - 1)));
          clock.advance(retryInMs);
        }
        await session.stop();
      }),
      { numRuns: 10 },
    );
  });
});

describe("the credential", () => {
  it("is not used when it comes after the end", async () => {
    const platform = await FakePlatform.start();
    let deliver: (value: string) => void = () => {};
    const { session } = openSession(platform, { authorization: () => new Promise((resolve) => (deliver = resolve)) });
    await session.stop();
    deliver("Bearer late");
    await openSession(platform).reports.wait("ready");
    expect(platform.upgrades.map(({ headers }) => headers.authorization)).toEqual(["Bearer token"]);
  });

  it("is asked for anew at each connection", async () => {
    const platform = await FakePlatform.start();
    let asked = 0;
    const { reports } = openSession(platform, { authorization: async () => `Bearer ${(asked += 1)}` });
    await reports.wait("ready");
    platform.cut();
    await platform.until(() => platform.sessions.length === 2);
    expect(platform.upgrades.map(({ headers }) => headers.authorization)).toEqual(["Bearer 1", "Bearer 2"]);
  });

  it("is asked for again when it could not be had, unless that is final", async () => {
    const platform = await FakePlatform.start();
    const answers = [new Error("the network is down"), "Bearer a\nb", "Bearer token"];
    const { reports, session } = openSession(platform, {
      authorization: async () => {
        const next = answers.shift() ?? new ListenError("unauthorized", "signed out");
        if (next instanceof Error) throw next;
        return next;
      },
    });
    await reports.wait("ready");
    expect(reports.of("retrying")).toMatchObject([
      { reason: { code: "authorization", message: expect.stringContaining("the network is down") } },
      { reason: { code: "authorization" } },
    ]);
    platform.cut();
    expect((await session.ended).error).toMatchObject({ code: "unauthorized", message: "signed out" });
  });
});

describe("a connection is dropped and made anew", () => {
  const faults: [string, (session: FakeSession) => void, string, RegExp][] = [
    ["a frame is not JSON", ({ socket }) => socket.send("{"), "protocol", /not JSON/],
    ["a frame is no object", ({ socket }) => socket.send("null"), "protocol", /not a JSON object/],
    ["a frame is unknown", ({ socket }) => socket.send('{"frame":"hello"}'), "protocol", /unknown frame/],
    ["a field is missing", ({ socket }) => socket.send('{"frame":"event","seq":1}'), "protocol", /id is not a string/],
    ["a frame is binary", ({ socket }) => socket.send(Buffer.from("{}")), "protocol", /binary/],
    ["a frame is too large", ({ socket }) => socket.send(" ".repeat(9_000_000)), "protocol", /payload/],
    ["ready comes twice", (s) => s.send(READY), "protocol", /twice/],
    ["the platform restarts", ({ socket }) => socket.close(1012), "closed", /1012, it restarts/],
    ["the platform is overloaded", ({ socket }) => socket.close(1013, "busy"), "closed", /1013, busy/],
    ["the policy is broken", ({ socket }) => socket.close(1008), "closed", /1008/],
    ["the socket is cut", ({ socket }) => socket.terminate(), "reset", /broke/],
    ["the platform says goodbye for now", (s) => s.send(bye("shutting_down")), "bye", /ended the session: later/],
    ["the credential has expired", (s) => s.send(bye("expired_credential")), "bye", /later/],
  ];

  it.each(faults)("when %s", async (_what, fault, code, words) => {
    const platform = await FakePlatform.start();
    const { reports } = openSession(platform);
    await reports.wait("ready");
    fault(platform.session);
    const { reason } = await reports.wait("lost");
    expect(reason).toEqual({ code, message: expect.stringMatching(words) });
    await platform.until(() => platform.sessions.length === 2);
    const { id } = platform.append();
    await platform.until(() => platform.acknowledged(id).length > 0);
    expect(reports.of("ready")).toHaveLength(1);
  });

  it.each([
    ["an event comes before ready", { frame: "event", seq: 1, id: "evt_1", type: "a", body: "{}" }],
    ["ready holds no secret", { ...READY, secret: " " }],
  ])("when %s", async (_what, frame) => {
    const platform = await FakePlatform.start();
    platform.opening = (session) => {
      platform.opening = undefined;
      session.socket.send(JSON.stringify(frame));
    };
    const { reports } = openSession(platform);
    await reports.wait("ready");
    expect(reports.of("retrying")).toMatchObject([{ reason: { code: "protocol" } }]);
  });

  it("when ready does not come within 10 s", async () => {
    const clock = new FakeClock();
    const platform = await FakePlatform.start();
    platform.opening = () => (platform.opening = undefined);
    const { reports } = openSession(platform, { clock });
    await platform.until(() => platform.sessions.length === 1);
    clock.advance(10_000);
    expect((await reports.wait("retrying")).reason.code).toBe("timeout");
    clock.advance(0);
    await reports.wait("ready");
  });

  it("when the platform overruns the window", async () => {
    const platform = await FakePlatform.start({ ignoreWindow: true });
    const { reports } = openSession(platform, { target: (await startReceiver(() => {})).url, clock: new FakeClock() });
    await reports.wait("ready");
    for (let i = 0; i < 65; i += 1) platform.append();
    expect((await reports.wait("lost")).reason).toMatchObject({
      code: "protocol",
      message: expect.stringContaining("64"),
    });
  });
});

describe("a goodbye for good", () => {
  it.each([
    ["revoked_credential", "unauthorized", 401],
    ["insufficient_scope", "forbidden", 403],
    ["sandbox_only", "forbidden", 403],
  ])("ends the session: %s", async (reason, code, status) => {
    const platform = await FakePlatform.start();
    const { reports, session } = openSession(platform);
    await reports.wait("ready");
    platform.session.send(bye(reason));
    expect((await session.ended).error).toMatchObject({ code, status, message: expect.stringContaining("later") });
    expect(platform.sessions).toHaveLength(1);
  });
});

describe("the heartbeat", () => {
  it("pings every 15 s and holds while anything is heard", async () => {
    const clock = new FakeClock();
    const platform = await FakePlatform.start();
    const { reports } = openSession(platform, { clock });
    await reports.wait("ready");
    for (let beat = 1; beat <= 8; beat += 1) {
      clock.advance(15_000);
      await platform.until(() => platform.session.pings.length === beat);
      // What the platform sends after its pong shows, once it is here, that the pong is.
      platform.session.send({ frame: "gap", from: "evt_1", to: "evt_2" });
      await reports.wait("gap", beat);
    }
    expect(reports.of("lost")).toEqual([]);
  });

  it("counts the silence from the last thing heard", async () => {
    const clock = new FakeClock();
    const platform = await FakePlatform.start({ autoPong: false });
    const { reports } = openSession(platform, { clock });
    await reports.wait("ready");
    clock.advance(500);
    platform.session.send({ frame: "gap", from: "evt_1", to: "evt_2" });
    await reports.wait("gap");
    clock.advance(29_999);
    expect(reports.of("lost")).toEqual([]);
    clock.advance(1);
    expect(reports.of("lost")).toHaveLength(1);
  });

  it("gives up a connection that was silent for 30 s", async () => {
    const clock = new FakeClock();
    const platform = await FakePlatform.start({ autoPong: false });
    const { reports } = openSession(platform, { clock });
    await reports.wait("ready");
    clock.advance(29_999);
    expect(reports.of("lost")).toEqual([]);
    clock.advance(1);
    expect(reports.of("lost")).toMatchObject([{ reason: { code: "silent" }, retryInMs: 0 }]);
    await platform.until(() => platform.session.pings.length > 0);
    clock.advance(0);
    await platform.until(() => platform.sessions.length === 2);
  });
});

describe("a limited downtime", () => {
  it("ends a session that never gets a connection", async () => {
    const clock = new FakeClock();
    const platform = await FakePlatform.start();
    const baseUrl = new URL(`http://127.0.0.1:${await closedPort()}`);
    const { reports, session } = openSession(platform, { clock, baseUrl, maxDowntimeMs: 60_000, random: () => 0.999 });
    for (let failures = 1; reports.of("summary").length === 0; failures += 1) {
      const { retryInMs } = await Promise.race([
        reports.wait("retrying", failures),
        session.ended.then(() => ({ retryInMs: 0 })),
      ]);
      clock.advance(retryInMs);
    }
    expect((await session.ended).error).toMatchObject({ code: "downtime", message: expect.stringContaining("60 s") });
    expect(clock.now()).toBeLessThanOrEqual(90_000);
  });

  it("counts anew from each loss", async () => {
    const clock = new FakeClock();
    let refusing = false;
    const platform = await FakePlatform.start({
      intercept: (_request, stream) => refusing && answer(stream, 503, "text/plain", "no"),
    });
    const { reports, session } = openSession(platform, { clock, maxDowntimeMs: 60_000, random: () => 0.999 });
    await reports.wait("ready");
    clock.advance(20_000);
    platform.cut();
    await reports.wait("lost");
    clock.advance(1_000);
    await platform.until(() => platform.sessions.length === 2);
    refusing = true;
    platform.cut();
    await reports.wait("lost", 2);
    const lostAt = clock.now();
    clock.advance(59_000);
    await new Promise(setImmediate);
    expect(reports.of("summary")).toEqual([]);
    clock.advance(1_000);
    expect((await session.ended).error).toMatchObject({ code: "downtime" });
    expect(clock.now() - lostAt).toBe(60_000);
  });
});

function bye(code: string) {
  return { frame: "bye" as const, code, message: "later" };
}

function answer(stream: Duplex, status: number, type: string, body: string, headers = ""): true {
  const length = Buffer.byteLength(body);
  stream.end(
    `HTTP/1.1 ${status} Status\r\nContent-Type: ${type}\r\n${headers}Content-Length: ${length}\r\n\r\n${body}`,
  );
  return true;
}
