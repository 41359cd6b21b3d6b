import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { createIdGenerator } from "../../src/contract/ids.ts";
import type { Report } from "../../src/relay/report.ts";
import type { RunOptions } from "../../src/relay/run.ts";
import { freePort } from "../support/free-port.ts";
import { FakeClock } from "./support/fake-clock.ts";
import { FakePlatform } from "./support/fake-platform.ts";
import { startRun } from "./support/start-run.ts";
import { volume } from "../support/volume.ts";
import { startReceiver } from "./support/receivers.ts";

const MEBIBYTE = 1024 * 1024;
const EVENT_BYTES = 64 * 1024;

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

async function heapUsed(): Promise<number> {
  collectGarbage();
  // Finalizers must have run before the objects that they release can be collected.
  await new Promise(setImmediate);
  collectGarbage();
  return process.memoryUsage().heapUsed + process.memoryUsage().external;
}

const newId = createIdGenerator((size) => new Uint8Array(size));

/** The clock advances while a request is in flight, which must not time out. */
const NEVER = 1e9;

/** Commits large events whose bodies are generated while they are sent, and not kept. */
function appendLarge(platform: FakePlatform, count: number): void {
  const filler = "x".repeat(EVENT_BYTES);
  for (let i = 0; i < count; i += 1) {
    const id = newId("event", platform.time);
    platform.log.push({
      id,
      type: "order.completed",
      get body() {
        return JSON.stringify({ id, filler: filler + String(i) });
      },
    });
  }
  platform.session.pump();
}

describe("events for a receiver that fails", () => {
  const EVENTS = volume(1_000, 400);
  const BATCH = EVENTS / 4;
  /** A third of the transferred bytes, measured while nothing is in flight. */
  const MAX_GROWTH = (EVENTS * EVENT_BYTES) / 3;

  /** Relays to a receiver until every event is acknowledged. Returns the maximum growth of the heap. */
  async function exhaust(target: URL, statuses: readonly (number | undefined)[], options: Partial<RunOptions> = {}) {
    const platform = await FakePlatform.start();
    const clock = new FakeClock();
    const counts = { attempts: 0, failures: 0, other: 0 };
    // Keeping all reports would itself be a leak.
    const report = (reported: Report) => {
      if (reported.event !== "forwarded") return;
      counts.attempts += 1;
      if (reported.retryInMs !== undefined) return;
      if (statuses.includes(reported.status)) counts.failures += 1;
      else counts.other += 1;
    };
    const { run } = startRun(platform, { target, clock, report, ...options });
    await platform.until(() => platform.sessions.length === 1);
    let base: number | undefined;
    let highest = 0;
    for (let sent = BATCH; sent <= EVENTS; sent += BATCH) {
      appendLarge(platform, BATCH);
      while (platform.acknowledgedIds.size < sent) {
        clock.advance(500);
        await new Promise(setImmediate);
      }
      const used = await heapUsed();
      base ??= used;
      highest = Math.max(highest, used - base);
    }
    expect(platform.session.peak).toBeLessThanOrEqual(256);
    expect(platform.acknowledgedIds.size).toBe(EVENTS);
    const { summary } = await run.stop();
    expect(summary).toMatchObject({ received: EVENTS, forwarded: 0, failed: EVENTS });
    return { ...counts, highest };
  }

  it("are each retried as configured and then reported as failed if it returns 500, with constant memory", async () => {
    const receiver = await startReceiver((response) => {
      receiver.requests.length = 0;
      response.writeHead(500).end("x".repeat(8_000));
    });
    const { attempts, failures, other, highest } = await exhaust(receiver.url, [500], { retries: 1, timeoutMs: NEVER });
    expect({ attempts, failures, other }).toEqual({ attempts: 2 * EVENTS, failures: EVENTS, other: 0 });
    expect(highest).toBeLessThan(MAX_GROWTH);
  });

  it("are reported as failed if it is down", async () => {
    const url = new URL(`http://127.0.0.1:${await freePort()}`);
    const { failures, other, highest } = await exhaust(url, [undefined]);
    expect({ failures, other }).toEqual({ failures: EVENTS, other: 0 });
    expect(highest).toBeLessThan(MAX_GROWTH);
  });

  it("are reported as failed if it hangs", async () => {
    const receiver = await startReceiver(() => void (receiver.requests.length = 0));
    const { failures, other, highest } = await exhaust(receiver.url, [undefined], { concurrency: 64 });
    expect({ failures, other }).toEqual({ failures: EVENTS, other: 0 });
    expect(highest).toBeLessThan(MAX_GROWTH);
  });
});

const HOURS = volume(24, 6);

it(`a listener's memory stays constant in ${HOURS} hours of heartbeats, events and a new connection every ten minutes`, async () => {
  const platform = await FakePlatform.start();
  const clock = new FakeClock();
  const receiver = await startReceiver((response) => {
    receiver.requests.length = 0;
    response.end();
  });
  let lost = 0;
  let forwarded = 0;
  let reported = () => {};
  const report = ({ event }: Report) => {
    if (event === "lost") lost += 1;
    if (event === "forwarded") forwarded += 1;
    reported();
  };
  const until = async (isMet: () => boolean) => {
    while (!isMet()) await new Promise<void>((resolve) => (reported = resolve));
  };
  const { run } = startRun(platform, { target: receiver.url, clock, report });
  await platform.until(() => platform.sessions.length === 1);
  await platform.session.roundTrip();
  const figures: { timers: number; resources: number; heap: number }[] = [];
  const BEATS_AN_HOUR = 240;
  const EVENTS = 60 * HOURS;
  for (let beat = 1; beat <= HOURS * BEATS_AN_HOUR; beat += 1) {
    if (beat % 40 === 0) {
      const [cuts, connections] = [lost, platform.sessions.length];
      platform.session.socket.terminate();
      await until(() => lost > cuts);
      clock.advance(1);
      await platform.until(() => platform.sessions.length > connections);
    }
    if (beat % 4 === 0) {
      const count = forwarded;
      const { id } = platform.append();
      await until(() => forwarded > count);
      clock.advance(2);
      await platform.until(() => platform.acknowledgedIds.has(id));
    }
    clock.advance(15_000);
    await platform.session.roundTrip();
    if (beat % BEATS_AN_HOUR === 0) {
      const { length: timers } = clock.waiting;
      figures.push({ timers, resources: process.getActiveResourcesInfo().length, heap: await heapUsed() });
    }
  }
  expect({ lost, forwarded }).toEqual({ lost: 6 * HOURS, forwarded: EVENTS });
  const [early, late] = [figures[1]!, figures.at(-1)!];
  expect(late.timers).toBeLessThanOrEqual(early.timers);
  expect(late.resources).toBeLessThanOrEqual(early.resources + 2);
  expect(late.heap - early.heap).toBeLessThan(8 * MEBIBYTE);
  const { summary } = await run.stop();
  expect(summary).toMatchObject({ received: EVENTS, forwarded: EVENTS, failed: 0 });
});
