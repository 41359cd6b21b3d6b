import type { ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { parseChaosSettings } from "../../src/relay/chaos-settings.ts";
import type { ForwardedReport } from "../../src/relay/report.ts";
import { type SignatureError, verifySignature } from "../../src/webhooks/index.ts";
import { FakeClock } from "./support/fake-clock.ts";
import { FakePlatform, SESSION_SECRET } from "./support/fake-platform.ts";
import { startRun } from "./support/start-run.ts";
import { type Respond, type ReceivedRequest, startReceiver } from "./support/receivers.ts";

const idOf = ({ headers }: ReceivedRequest): string => String(headers["service-event-id"]);

const attemptOf = ({ headers }: ReceivedRequest): string => String(headers["service-delivery-attempt"]);

/** Accepts exactly the deliveries that the specification allows. */
const verifying: Respond = (response, request) =>
  response.writeHead(rejectionOf(request) === undefined ? 200 : 400).end();

function rejectionOf({ headers, body }: ReceivedRequest): string | undefined {
  try {
    verifySignature({ payload: body, header: String(headers["service-signature"]), secrets: SESSION_SECRET });
    return undefined;
  } catch (error) {
    return (error as SignatureError).code;
  }
}

/** Relays events with faults, one forward at a time, and advances the clock until all are done. */
async function disturb(
  chaos: string,
  count: number,
  isDone: (forwards: readonly ForwardedReport[]) => boolean,
  respond: Respond = verifying,
) {
  const platform = await FakePlatform.start();
  const clock = new FakeClock();
  const receiver = await startReceiver(respond);
  const settings = parseChaosSettings(chaos, () => 1);
  const { reports, run } = startRun(platform, {
    target: receiver.url,
    chaos: settings,
    concurrency: 1,
    // The clock advances while a request is in flight.
    timeoutMs: 1e9,
    clock,
  });
  await reports.wait("ready");
  for (let i = 0; i < count; i += 1) {
    platform.append();
    await reports.wait("received", i + 1);
  }
  while (!isDone(reports.of("forwarded"))) {
    clock.advance(100);
    await new Promise(setImmediate);
  }
  const { summary } = await run.stop();
  const injected = platform.acknowledgements.map(({ ack }) => ack.injected);
  return { receiver, reports, summary, injected, sent: platform.log.map(({ id }) => id) };
}

const own = (forwards: readonly ForwardedReport[]) => forwards.filter(({ copy }) => copy === undefined);

describe("chaos", () => {
  it("injects the same faults for the same seed, and others for another seed", async () => {
    const faults = "duplicate=0.3,reorder=0.3,drop=0.2,badsig=0.2,stale=0.2";
    const run = async (seed: number) => {
      const { reports, sent } = await disturb(`${faults},seed=${seed}`, 40, (reported) => own(reported).length === 40);
      const number = (id: string) => sent.indexOf(id);
      const reported = reports
        .of("forwarded")
        .filter(({ copy }) => copy !== "duplicate")
        .map(({ id, copy, faults }) => `${number(id)} ${copy ?? ""} ${faults?.join()}`);
      return reported.sort();
    };
    const first = await run(7);
    expect(await run(7)).toEqual(first);
    expect(await run(8)).not.toEqual(first);
  });

  it("sends duplicates, in addition to delivering every event once", async () => {
    const { receiver, summary, sent } = await disturb("duplicate=1,seed=3", 10, ({ length }) => length === 20);
    for (const id of sent) {
      const requests = receiver.requests.filter((request) => idOf(request) === id);
      expect(requests.map(attemptOf).sort()).toEqual(["1", "2"]);
    }
    expect(summary).toMatchObject({ received: 10, forwarded: 10, failed: 0 });
    expect(summary.chaos).toEqual({
      seed: 3,
      faults: { duplicate: { sent: 10, accepted: 10, refused: 0, failed: 0, right: 10 } },
    });
  });

  it("changes the order", async () => {
    const { receiver, sent } = await disturb("reorder=0.5,seed=5", 20, ({ length }) => length === 20);
    const order = receiver.requests.map(idOf);
    expect(order).not.toEqual(sent);
    expect([...order].sort()).toEqual([...sent].sort());
  });

  it("drops deliveries and delivers them later, as a second attempt", async () => {
    const { receiver, summary } = await disturb("drop=1,seed=1", 3, ({ length }) => length === 3);
    expect(receiver.requests.map(attemptOf)).toEqual(["2", "2", "2"]);
    expect(summary.chaos?.faults.drop).toMatchObject({ sent: 3, right: 3 });
  });

  it("delays within its bounds", async () => {
    const platform = await FakePlatform.start();
    const clock = new FakeClock();
    const receiver = await startReceiver();
    const chaos = parseChaosSettings("delay=1-3s,seed=2", () => 1);
    const { reports } = startRun(platform, { target: receiver.url, chaos, clock });
    await reports.wait("ready");
    for (let i = 0; i < 20; i += 1) platform.append();
    await reports.wait("received", 20);
    const waits = clock.waiting.filter((wait) => wait >= 1_000 && wait <= 3_000);
    expect(waits).toHaveLength(20);
    expect(Math.max(...waits) - Math.min(...waits)).toBeGreaterThan(1_000);
    clock.advance(999);
    expect(receiver.requests).toEqual([]);
    clock.advance(2_001);
    await receiver.received(20);
  });

  it("sends forgeries before events, which a correct receiver rejects", async () => {
    const { receiver, reports, summary } = await disturb("badsig=1,stale=1,seed=1", 5, ({ length }) => length === 15);
    const rejections = receiver.requests.map(rejectionOf);
    expect(rejections.filter((code) => code === undefined)).toHaveLength(5);
    expect(new Set(rejections)).toEqual(new Set([undefined, "signature_mismatch", "timestamp_too_old"]));
    expect(summary).toMatchObject({ forwarded: 5, failed: 0 });
    expect(summary.chaos?.faults).toEqual({
      badsig: { sent: 5, accepted: 0, refused: 5, failed: 0, right: 5 },
      stale: { sent: 5, accepted: 0, refused: 5, failed: 0, right: 5 },
    });
    expect(reports.of("forwarded").every(({ hint }) => hint === undefined)).toBe(true);
  });

  it("reports a receiver that accepts forgeries", async () => {
    const { summary } = await disturb(
      "badsig=1,stale=1,seed=1",
      5,
      ({ length }) => length === 15,
      (response) => response.end(),
    );
    expect(summary.chaos?.faults).toMatchObject({
      badsig: { sent: 5, accepted: 5, refused: 0, right: 0 },
      stale: { sent: 5, accepted: 5, refused: 0, right: 0 },
    });
  });

  it("holds events back until a burst is full, or 2 s have passed", async () => {
    const platform = await FakePlatform.start();
    const clock = new FakeClock();
    const responses: ServerResponse[] = [];
    const receiver = await startReceiver((response) => void responses.push(response));
    const chaos = parseChaosSettings("burst=20,seed=1", () => 1);
    const { reports } = startRun(platform, { target: receiver.url, chaos, clock });
    await reports.wait("ready");
    for (let i = 0; i < 19; i += 1) platform.append();
    await reports.wait("received", 19);
    await platform.session.roundTrip();
    expect(receiver.requests).toEqual([]);
    platform.append();
    // All at once: none of the forwards has a response yet.
    await receiver.received(20);
    for (const response of responses) response.end();
    await reports.wait("forwarded", 20);
    platform.append();
    await reports.wait("received", 21);
    clock.advance(1_999);
    await platform.session.roundTrip();
    expect(receiver.requests).toHaveLength(20);
    clock.advance(1);
    await receiver.received(21);
  });

  it("acknowledges an event with the faults, and the responses to its copies", async () => {
    const { injected } = await disturb("drop=1,badsig=1,stale=1,duplicate=1,seed=1", 2, ({ length }) => length === 8);
    expect(injected).toEqual(Array(2).fill("drop, badsig 400, stale 400, duplicate 200"));
    const plain = await disturb("delay=1s,seed=1", 1, ({ length }) => length === 1);
    expect(plain.injected).toEqual([undefined]);
  });

  it("acknowledges a delivered event whose copy is not sent any more when the run stops", async () => {
    const platform = await FakePlatform.start();
    const receiver = await startReceiver();
    // The seed sends the duplicate after the delivery.
    const chaos = parseChaosSettings("duplicate=1,seed=1", () => 1);
    const { reports, run } = startRun(platform, { target: receiver.url, chaos, concurrency: 1 });
    await reports.wait("ready");
    platform.append();
    await reports.wait("forwarded");
    run.hold("user", { waiting: "forwarding is resumed", remedy: "Resume it" });
    await run.stop();
    expect(platform.acknowledgements).toMatchObject([{ ack: { status_code: 200 } }]);
  });

  it("drops delayed events without acknowledging them when the run stops", async () => {
    const platform = await FakePlatform.start();
    const clock = new FakeClock();
    const receiver = await startReceiver();
    const chaos = parseChaosSettings("burst=20,delay=5s,seed=1", () => 1);
    const { reports, run } = startRun(platform, { target: receiver.url, chaos, clock });
    await reports.wait("ready");
    platform.append();
    await reports.wait("received");
    await run.stop();
    expect(clock.waiting).toEqual([]);
    expect(platform.acknowledgements).toEqual([]);
    expect(receiver.requests).toEqual([]);
  });
});
