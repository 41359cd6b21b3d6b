import { describe, expect, it } from "vitest";
import { LIMITS } from "../../src/contract/limits.ts";
import { FakeClock } from "./support/fake-clock.ts";
import { FakePlatform } from "./support/fake-platform.ts";
import { startRun } from "./support/start-run.ts";
import { startReceiver } from "./support/receivers.ts";

describe("a session whose connection is cut", () => {
  it("resumes from the first unacknowledged event, and acknowledges later ones again", async () => {
    const platform = await FakePlatform.start();
    const pending: (() => void)[] = [];
    const receiver = await startReceiver((response, { headers }) => {
      if (headers["service-event-id"] === platform.log[1]!.id) pending.push(() => response.end());
      else response.writeHead(202).end("fine");
    });
    const { reports } = startRun(platform, { target: receiver.url });
    await reports.wait("ready");
    const [first, stuck, last] = [platform.append(), platform.append(), platform.append()];
    await platform.until(() => platform.acknowledgements.length === 2);
    // Confirmed as well: each flush of acknowledgements includes a ping.
    await platform.until(() => platform.session.pings.length > 0);
    platform.cut();
    await reports.wait("duplicate", 2);
    const { after } = Object.fromEntries(new URL(platform.upgrades[1]!.url!, platform.url).searchParams);
    expect([first.id, reports.of("ready")[0]!.cursor]).toContain(after);
    await platform.until(() => platform.acknowledged(last.id).length === 2);
    expect(platform.acknowledged(last.id)[1]).toMatchObject({ status_code: 202 });
    pending[0]!();
    await platform.until(() => platform.acknowledged(stuck.id).length === 1);
    expect(receiver.requests).toHaveLength(3);
    expect(reports.of("received")).toHaveLength(3);
  });

  it("trusts an acknowledgement only after the response to the following ping", async () => {
    const platform = await FakePlatform.start({ autoPong: false });
    const { reports } = startRun(platform);
    const { cursor } = await reports.wait("ready");
    const [first, second] = [await appendAndAcknowledge(platform), await appendAndAcknowledge(platform)];
    const results: [pong: string[], cursor: string][] = [
      [[], cursor],
      [["", "x", "-1", "1.5", "999"], cursor],
      [["0"], cursor],
      [["1"], first],
      [["2", "1"], second],
    ];
    for (const [pongs, expected] of results) {
      const { session } = platform;
      await platform.until(() => session.pings.length > 0);
      for (const pong of pongs) session.socket.pong(pong);
      session.send({ frame: "gap", from: "evt_1", to: "evt_2" });
      await reports.wait("gap", reports.of("gap").length + 1);
      platform.cut();
      await platform.until(() => platform.session !== session);
      expect(platform.upgrades.at(-1)!.url).toContain(`after=${expected}`);
      await platform.until(() => platform.session.unacknowledged.size === 0);
    }
    expect(reports.of("received")).toHaveLength(2);
  });

  it("sends another ping for acknowledgements sent during a ping", async () => {
    const platform = await FakePlatform.start({ autoPong: false });
    await startRun(platform).reports.wait("ready");
    await appendAndAcknowledge(platform);
    await platform.until(() => platform.session.pings.length === 1);
    await appendAndAcknowledge(platform);
    platform.session.socket.pong("1");
    await platform.until(() => platform.session.pings.length === 2);
    expect(platform.session.pings).toEqual(["1", "2"]);
  });

  it("sends a ping after 64 acknowledgements, or after 50 ms", async () => {
    const clock = new FakeClock();
    const platform = await FakePlatform.start({ autoPong: false });
    const { reports } = startRun(platform, { clock });
    await reports.wait("ready");
    const { session } = platform;
    const acknowledge = async (count: number) => {
      const total = reports.of("received").length + count;
      for (let i = 0; i < count; i += 1) platform.append();
      await reports.wait("received", total);
      clock.advance(2);
      await platform.until(() => platform.acknowledgements.length === total);
    };
    const respond = async () => {
      session.socket.pong(session.pings.at(-1));
      session.send({ frame: "gap", from: "evt_1", to: "evt_2" });
      await reports.wait("gap", reports.of("gap").length + 1);
    };
    await acknowledge(1);
    await platform.until(() => session.pings.length === 1);
    await respond();
    await acknowledge(63);
    clock.advance(47);
    await session.roundTrip();
    expect(session.pings).toEqual(["1"]);
    clock.advance(1);
    await platform.until(() => session.pings.length === 2);
    await respond();
    await acknowledge(32);
    await acknowledge(32);
    await platform.until(() => session.pings.length === 3);
    expect(session.pings).toEqual(["1", "64", "128"]);
  });

  it("starts from the platform's start position until something is acknowledged", async () => {
    const clock = new FakeClock();
    const platform = await FakePlatform.start();
    const receiver = await startReceiver(() => {});
    const { reports } = startRun(platform, { target: receiver.url, clock, after: "now" });
    const { cursor } = await reports.wait("ready");
    platform.append();
    await receiver.received(1);
    platform.cut();
    await reports.wait("lost");
    expect(platform.upgrades[0]!.url).toContain("after=now");
    clock.advance(0);
    await platform.until(() => platform.sessions.length === 2);
    expect(platform.upgrades[1]!.url).toContain(`after=${cursor}`);
    await reports.wait("duplicate");
  });

  it("reports how many events were caught up on", async () => {
    const clock = new FakeClock();
    const platform = await FakePlatform.start();
    const { reports, run } = startRun(platform, { clock, random: () => 0.5 });
    await reports.wait("ready");
    platform.cut();
    await reports.wait("lost");
    platform.time = clock.now();
    for (let i = 0; i < 3; i += 1) platform.append();
    clock.advance(125);
    await reports.wait("received", 3);
    clock.advance(2);
    await platform.until(() => platform.acknowledgements.length === 3);
    expect(reports.of("restored")).toEqual([]);
    clock.advance(10);
    platform.time = clock.now();
    platform.append();
    expect(await reports.wait("restored")).toEqual({ event: "restored", downtimeMs: 125, caughtUp: 3 });
    await reports.wait("received", 4);
    await run.stop();
    expect(reports.of("restored")).toHaveLength(1);
    expect(clock.waiting).toEqual([]);
  });

  it("does not consider itself caught up while its window is full", async () => {
    const clock = new FakeClock();
    const platform = await FakePlatform.start({ window: LIMITS.minListenWindow });
    let pending: (() => void)[] = [];
    const receiver = await startReceiver((response) => pending.push(() => response.end()));
    const { reports } = startRun(platform, { target: receiver.url, clock, random: () => 0.5 });
    await reports.wait("ready");
    platform.cut();
    await reports.wait("lost");
    platform.time = clock.now();
    const count = LIMITS.minListenWindow + 16;
    for (let i = 0; i < count; i += 1) platform.append();
    clock.advance(125);
    await reports.wait("received", LIMITS.minListenWindow);
    clock.advance(5_000);
    for (let forwarded = 16; forwarded <= count; forwarded += 16) {
      await receiver.received(forwarded);
      expect(reports.of("restored")).toEqual([]);
      for (const release of pending.splice(0)) release();
      await reports.wait("forwarded", forwarded);
      clock.advance(2);
    }
    await platform.until(() => platform.acknowledgements.length === count);
    clock.advance(1_000);
    expect(await reports.wait("restored")).toMatchObject({ caughtUp: count });
  });

  it("reports how many events were caught up on once no more arrive, or at the next loss", async () => {
    const clock = new FakeClock();
    const platform = await FakePlatform.start();
    const { reports } = startRun(platform, { clock, random: () => 0.5 });
    await reports.wait("ready");
    for (const end of [() => clock.advance(2_000), () => platform.cut()]) {
      const lost = reports.of("lost").length;
      if (reports.of("restored").length === lost) platform.cut();
      const { retryInMs } = await reports.wait("lost", lost + 1);
      platform.time = clock.now();
      platform.append();
      clock.advance(retryInMs);
      await reports.wait("received", lost + 1);
      end();
      await reports.wait("restored", lost + 1);
    }
    expect(reports.of("restored")).toMatchObject([{ caughtUp: 1 }, { caughtUp: 1 }]);
  });

  it("uses the platform's clock, however wrong its own clock is", async () => {
    const clock = new FakeClock();
    const platform = await FakePlatform.start();
    platform.time = clock.now() + 3 * 86_400_000;
    const { reports } = startRun(platform, { clock, random: () => 0.5 });
    await reports.wait("ready");
    platform.append();
    await reports.wait("received");
    clock.advance(2);
    await platform.until(() => platform.acknowledgements.length === 1);
    clock.advance(50);
    await platform.session.confirmed();
    clock.advance(5_000);
    platform.cut();
    await reports.wait("lost");
    platform.time += 5_102;
    platform.append();
    platform.append();
    clock.advance(125);
    await reports.wait("received", 3);
    platform.time += 10_000;
    platform.append();
    expect(await reports.wait("restored")).toMatchObject({ caughtUp: 2 });
  });
});

describe("an event that arrives twice", () => {
  it("is forwarded once while it is in flight, and acknowledged twice", async () => {
    const platform = await FakePlatform.start();
    const pending: (() => void)[] = [];
    const receiver = await startReceiver((response) => pending.push(() => response.end()));
    const { reports } = startRun(platform, { target: receiver.url });
    await reports.wait("ready");
    const event = platform.append();
    platform.session.sendEvent(event);
    expect(await reports.wait("duplicate")).toEqual({ event: "duplicate", id: event.id, type: event.type });
    await receiver.received(1);
    pending[0]!();
    await platform.until(() => platform.acknowledged(event.id).length === 2);
    expect(receiver.requests).toHaveLength(1);
    expect(reports.of("received")).toHaveLength(1);
  });

  it("is dropped after its acknowledgement, and acknowledged again", async () => {
    const platform = await FakePlatform.start();
    const receiver = await startReceiver((response) => response.writeHead(202).end());
    const { reports } = startRun(platform, { target: receiver.url });
    await reports.wait("ready");
    const event = platform.append();
    await platform.until(() => platform.acknowledged(event.id).length === 1);
    await platform.session.confirmed();
    platform.session.sendEvent(event);
    await platform.until(() => platform.acknowledged(event.id).length === 2);
    expect(platform.acknowledged(event.id)[1]).toMatchObject({ seq: 2, status_code: 202 });
    await platform.session.confirmed();
    platform.cut();
    await platform.until(() => platform.sessions.length === 2);
    platform.session.sendEvent(event);
    await platform.until(() => platform.acknowledged(event.id).length === 3);
    expect(receiver.requests).toHaveLength(1);
    expect(reports.of("duplicate")).toHaveLength(2);
  });

  it("is forwarded again when it is replayed, and the session continues after the replay", async () => {
    const platform = await FakePlatform.start();
    const receiver = await startReceiver();
    const { reports } = startRun(platform, { target: receiver.url });
    await reports.wait("ready");
    const [old, last] = [platform.append(), platform.append()];
    const replays = [platform.replay(old), platform.replay(old)];
    await platform.until(() => platform.acknowledgements.length === 4);
    await platform.session.confirmed();
    platform.cut();
    await platform.until(() => platform.sessions.length === 2);
    expect(platform.upgrades[1]!.url).toContain(`after=${replays[1]!.cursor}`);
    const next = platform.append();
    await platform.until(() => platform.acknowledged(next.id).length === 1);
    const ids = receiver.requests.map(({ headers }) => String(headers["service-event-id"]));
    expect(ids.sort()).toEqual([old.id, old.id, old.id, last.id, next.id].sort());
    expect(reports.of("duplicate")).toEqual([]);
  });
});

describe("a gap in the log", () => {
  it("is reported, and does not change the position", async () => {
    const platform = await FakePlatform.start();
    const { reports } = startRun(platform);
    const { cursor } = await reports.wait("ready");
    platform.session.send({ frame: "gap", from: "evt_1", to: "evt_2" });
    expect(await reports.wait("gap")).toEqual({ event: "gap", from: "evt_1", to: "evt_2" });
    platform.cut();
    await platform.until(() => platform.sessions.length === 2);
    expect(platform.upgrades[1]!.url).toContain(`after=${cursor}`);
  });
});

async function appendAndAcknowledge(platform: FakePlatform): Promise<string> {
  const { id } = platform.append();
  await platform.until(() => platform.acknowledged(id).length === 1);
  return id;
}
