import { describe, expect, it } from "vitest";
import { HEADERS } from "../../src/contract/headers.ts";
import { SignatureError, verify } from "../../src/webhooks/index.ts";
import { freePort } from "../support/free-port.ts";
import { FakeClock } from "./support/fake-clock.ts";
import { FakePlatform, SESSION_SECRET } from "./support/fake-platform.ts";
import { startRun } from "./support/start-run.ts";
import { startReceiver } from "./support/receivers.ts";

describe("a run of the relay", () => {
  it("sends its parameters with the credential, and is ready when the platform confirms it", async () => {
    const platform = await FakePlatform.start();
    const { reports } = startRun(platform, {
      device: "laptop",
      events: ["order.*", "customer.created"],
      after: "-600",
    });
    expect(await reports.wait("ready")).toEqual({
      event: "ready",
      session: expect.stringMatching(/^lsn_/),
      secret: SESSION_SECRET,
      cursor: expect.stringMatching(/^evt_/),
      account: "acct_1",
      environment: "sandbox",
      subscriptions: ["*"],
      others: 0,
    });
    const [upgrade] = platform.upgrades;
    expect(upgrade!.url).toBe("/v1/listen?window=4096&events=order.*%2Ccustomer.created&after=-600");
    expect(upgrade!.headers).toMatchObject({ authorization: "Bearer token", "service-device": "laptop" });
    expect(upgrade!.headers["sec-websocket-extensions"]).toBeUndefined();
    expect(platform.session.protocol).toBe("service.listen.v1");
  });

  it("keeps the path of a platform's address", async () => {
    const platform = await FakePlatform.start();
    const { reports } = startRun(platform, { baseUrl: new URL("/api/", platform.url) });
    await reports.wait("ready");
    expect(platform.upgrades[0]!.url).toBe("/api/v1/listen?window=4096");
  });

  it("forwards the exact bytes with a new signature and acknowledges the response", async () => {
    const platform = await FakePlatform.start();
    const receiver = await startReceiver((response) => response.end("thanks"));
    const { reports } = startRun(platform, { target: receiver.url });
    await reports.wait("ready");
    const body = '{ "id": "evt_1",\n\t"object":"event", "n": 1.0, "text": "\\/ é \\u00e9 😀 \\ud83d\\ude00" }\n';
    const { id, type } = platform.append("order.completed", body);
    await platform.until(() => platform.acknowledged(id).length > 0);
    const [request] = receiver.requests;
    expect(request!.body.toString("utf8")).toBe(body);
    expect(request!.headers).toMatchObject({
      "service-event-id": id,
      "service-delivery-attempt": "1",
      "service-relay": "1",
    });
    const header = String(request!.headers["service-signature"]);
    expect(verify({ payload: request!.body, header, secrets: SESSION_SECRET })).toMatchObject({ id: "evt_1" });
    expect(reports.of("received")).toEqual([{ event: "received", id, type, body }]);
    expect(await reports.wait("forwarded")).toEqual({
      event: "forwarded",
      id,
      type,
      attempt: 1,
      url: receiver.url,
      headers: expect.arrayContaining([HEADERS.signature, header]),
      excerpt: "thanks",
      responseHeaders: expect.any(Map),
      status: 200,
      durationMs: expect.any(Number),
    });
    expect(platform.acknowledged(id)).toEqual([
      { seq: 1, status_code: 200, duration_ms: expect.any(Number), response_excerpt: "thanks" },
    ]);
  });

  it("signs with another secret and sends other headers if configured", async () => {
    const platform = await FakePlatform.start();
    const receiver = await startReceiver();
    const options = { target: receiver.url, secret: "whsec_of_the_app", headers: ["X-Tenant", "42"] };
    const { reports } = startRun(platform, options);
    await reports.wait("ready");
    platform.append();
    await receiver.received(1);
    const [request] = receiver.requests;
    const header = String(request!.headers["service-signature"]);
    expect(request!.headers["x-tenant"]).toBe("42");
    verify({ payload: request!.body, header, secrets: "whsec_of_the_app" });
    expect(() => verify({ payload: request!.body, header, secrets: SESSION_SECRET })).toThrow(SignatureError);
  });

  it("rejects an invalid secret before it connects", async () => {
    const platform = await FakePlatform.start();
    expect(() => startRun(platform, { secret: " " })).toThrow(/empty/);
  });

  it("only reports and acknowledges without a target", async () => {
    const platform = await FakePlatform.start();
    const { reports, run } = startRun(platform);
    await reports.wait("ready");
    const { id } = platform.append();
    await platform.until(() => platform.acknowledged(id).length > 0);
    expect(platform.acknowledged(id)).toEqual([{ seq: 1, duration_ms: 0 }]);
    const { summary } = await run.stop();
    expect(summary).toMatchObject({
      received: 1,
      forwarded: 0,
      failed: 0,
      duplicates: 0,
      p50: undefined,
      p99: undefined,
    });
  });

  it("reports an error response with a hint", async () => {
    const platform = await FakePlatform.start();
    const receiver = await startReceiver((response, { headers }) => {
      const isFirst = headers["service-event-id"] === platform.log[0]!.id;
      if (isFirst) response.writeHead(401).end("bad signature");
      else response.writeHead(302, { location: "/login" }).end("moved");
    });
    const { reports } = startRun(platform, { target: receiver.url });
    await reports.wait("ready");
    platform.append();
    const rejected = await reports.wait("forwarded");
    expect(rejected).toMatchObject({ status: 401, excerpt: "bad signature", hint: expect.stringContaining("secret") });
    platform.append();
    const redirected = await reports.wait("forwarded", 2);
    expect(redirected).toMatchObject({ status: 302, location: "/login", hint: expect.stringContaining("/login") });
  });

  it("reports and acknowledges an unreachable receiver, and continues", async () => {
    const platform = await FakePlatform.start();
    const port = await freePort();
    const { reports, run } = startRun(platform, { target: new URL(`http://localhost:${port}/`) });
    await reports.wait("ready");
    const first = platform.append();
    const second = platform.append();
    await platform.until(() => platform.acknowledgements.length === 2);
    expect(platform.acknowledged(first.id)).toEqual([
      {
        seq: 1,
        duration_ms: expect.any(Number),
        error: "connection_refused: no server listens on this address and port",
      },
    ]);
    expect(await reports.wait("forwarded", 2)).toMatchObject({
      id: second.id,
      failure: { code: "connection_refused" },
      hint: expect.stringContaining(String(port)),
    });
    const { summary } = await run.stop();
    expect(summary).toMatchObject({ received: 2, forwarded: 0, failed: 2 });
  });

  it("respects the maximum number of concurrent forwards", async () => {
    const platform = await FakePlatform.start();
    let pending: (() => void)[] = [];
    let highest = 0;
    const receiver = await startReceiver((response) => {
      pending.push(() => response.end());
      highest = Math.max(highest, pending.length);
      if (pending.length < 3) return;
      for (const release of pending) release();
      pending = [];
    });
    const { reports } = startRun(platform, { target: receiver.url, concurrency: 3 });
    await reports.wait("ready");
    for (let i = 0; i < 51; i += 1) platform.append();
    await platform.until(() => platform.acknowledgements.length === 51);
    expect(highest).toBe(3);
  });

  it("leaves a paused receiver's events on the platform", async () => {
    const platform = await FakePlatform.start();
    const pending: (() => void)[] = [];
    const clock = new FakeClock();
    const receiver = await startReceiver((response) => pending.push(() => response.end()));
    const { reports } = startRun(platform, { target: receiver.url, clock });
    await reports.wait("ready");
    for (let i = 0; i < 1_000; i += 1) platform.append();
    await receiver.received(16);
    await reports.wait("received", 64);
    expect(platform.session.unacknowledged.size).toBe(64);
    pending.shift()!();
    await reports.wait("forwarded");
    clock.advance(2);
    await reports.wait("received", 65);
    expect(reports.of("received")).toHaveLength(65);
    expect(platform.session.peak).toBe(64);
  });
});

describe("stopping a run", () => {
  it("finishes and acknowledges forwards in flight, and starts no new ones", async () => {
    const platform = await FakePlatform.start();
    const pending: (() => void)[] = [];
    const receiver = await startReceiver((response) => pending.push(() => response.end()));
    const clock = new FakeClock();
    const { reports, run } = startRun(platform, { target: receiver.url, concurrency: 2, clock });
    await reports.wait("ready");
    const events = Array.from({ length: 5 }, () => platform.append());
    await receiver.received(2);
    const stopped = run.stop();
    expect(run.stop()).toBe(stopped);
    platform.append();
    await platform.session.roundTrip();
    for (const release of pending) release();
    const { summary, error } = await stopped;
    expect(error).toBeUndefined();
    expect(summary).toMatchObject({
      received: 5,
      forwarded: 2,
      failed: 0,
      p50: expect.any(Number),
      p99: expect.any(Number),
    });
    expect(reports.all.at(-1)).toEqual({ event: "summary", ...summary });
    expect(receiver.requests).toHaveLength(2);
    expect(platform.acknowledgements.map(({ id }) => id).sort()).toEqual(events.slice(0, 2).map(({ id }) => id));
    await platform.until(() => platform.session.closeCode !== undefined);
    expect(platform.session.closeCode).toBe(1000);
    expect(clock.waiting).toEqual([]);
  });

  it("waits no longer than the time limit of a forward", async () => {
    const clock = new FakeClock();
    const platform = await FakePlatform.start();
    const receiver = await startReceiver(() => {});
    const { reports, run } = startRun(platform, { target: receiver.url, clock });
    await reports.wait("ready");
    const { id } = platform.append();
    await receiver.received(1);
    const stopped = run.stop();
    clock.advance(10_000);
    const { summary } = await stopped;
    expect(summary).toMatchObject({ failed: 1 });
    expect(platform.acknowledged(id)).toMatchObject([{ error: expect.stringContaining("within 10 s") }]);
  });

  it("does not wait for a platform that does not respond", async () => {
    const clock = new FakeClock();
    const platform = await FakePlatform.start();
    const { reports, run } = startRun(platform, { clock });
    await reports.wait("ready");
    platform.session.socket.pause();
    const stopped = run.stop();
    await new Promise(setImmediate);
    clock.advance(2_000);
    expect((await stopped).error).toBeUndefined();
  });

  it("ends it without an error before the first connection, and without a connection", async () => {
    const platform = await FakePlatform.start();
    const waiting = startRun(platform, { authorization: () => new Promise(() => {}) });
    expect((await waiting.run.stop()).error).toBeUndefined();
    const clock = new FakeClock();
    const { reports, run } = startRun(platform, { clock, random: () => 0.5 });
    await reports.wait("ready");
    platform.cut();
    await reports.wait("lost");
    expect((await run.stop()).error).toBeUndefined();
    expect(clock.waiting).toEqual([]);
  });
});
