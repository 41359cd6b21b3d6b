import { describe, expect, it } from "vitest";
import { FakeClock } from "./support/fake-clock.ts";
import { FakePlatform } from "./support/fake-platform.ts";
import { startRun } from "./support/start-run.ts";

describe("the heartbeat", () => {
  it("pings every 15 s and stays connected while anything is received", async () => {
    const clock = new FakeClock();
    const platform = await FakePlatform.start();
    const { reports } = startRun(platform, { clock });
    await reports.wait("ready");
    for (let beat = 1; beat <= 8; beat += 1) {
      clock.advance(15_000);
      await platform.until(() => platform.session.pings.length === beat);
      // A later frame of the platform proves that its pong has arrived.
      platform.session.send({ frame: "gap", from: "evt_1", to: "evt_2" });
      await reports.wait("gap", beat);
    }
    expect(reports.of("lost")).toEqual([]);
  });

  it("counts the silence from the last received data", async () => {
    const clock = new FakeClock();
    const platform = await FakePlatform.start({ autoPong: false });
    const { reports } = startRun(platform, { clock });
    await reports.wait("ready");
    clock.advance(500);
    platform.session.send({ frame: "gap", from: "evt_1", to: "evt_2" });
    await reports.wait("gap");
    clock.advance(29_999);
    expect(reports.of("lost")).toEqual([]);
    clock.advance(1);
    expect(reports.of("lost")).toHaveLength(1);
  });

  it("closes a connection after 30 s of silence", async () => {
    const clock = new FakeClock();
    const platform = await FakePlatform.start({ autoPong: false });
    const { reports } = startRun(platform, { clock });
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
