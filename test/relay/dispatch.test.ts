import type { ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { FakeClock } from "./support/fake-clock.ts";
import { FakePlatform } from "./support/fake-platform.ts";
import { READY } from "./support/frames.ts";
import { startRun } from "./support/start-run.ts";
import { type ReceivedRequest, startReceiver } from "./support/receivers.ts";

/** Returns an event of an object. */
function about(platform: FakePlatform, object: string, type = "order.completed") {
  const body = JSON.stringify({ type, data: { object: { id: object } }, n: platform.log.length });
  return platform.append(type, body);
}

const idOf = ({ headers }: ReceivedRequest): string => String(headers["service-event-id"]);
const attemptOf = ({ headers }: ReceivedRequest): string => String(headers["service-delivery-attempt"]);

describe("routes", () => {
  it("send an event to the first one that covers its type, and the rest to the target", async () => {
    const platform = await FakePlatform.start();
    const [orders, created, rest] = [await startReceiver(), await startReceiver(), await startReceiver()];
    const { reports } = startRun(platform, {
      target: rest.url,
      routes: [
        { subscription: "order.*", url: orders.url },
        { subscription: "customer.created", url: created.url },
      ],
    });
    await reports.wait("ready");
    const types = ["order.completed", "customer.created", "customer.deleted", "payment.failed", "order.created"];
    for (const type of types) platform.append(type);
    await reports.wait("forwarded", types.length);
    const typesAt = ({ requests }: typeof orders) =>
      requests.map(({ body }) => (JSON.parse(body.toString()) as { type: string }).type).sort();
    expect(typesAt(orders)).toEqual(["order.completed", "order.created"]);
    expect(typesAt(created)).toEqual(["customer.created"]);
    expect(typesAt(rest)).toEqual(["customer.deleted", "payment.failed"]);
  });

  it("acknowledge unforwarded events that none covers", async () => {
    const platform = await FakePlatform.start();
    const orders = await startReceiver();
    const { reports, run } = startRun(platform, { routes: [{ subscription: "order.*", url: orders.url }] });
    await reports.wait("ready");
    const { id } = platform.append("customer.created");
    await platform.until(() => platform.acknowledged(id).length === 1);
    expect(platform.acknowledged(id)).toEqual([{ seq: 1, duration_ms: 0 }]);
    expect((await run.stop()).summary).toMatchObject({ received: 1, forwarded: 0, failed: 0 });
  });
});

describe("a reset of the sandbox", () => {
  it.each([false, true])("drops the backlog of a slow receiver, and retries nothing (ordered: %s)", async (ordered) => {
    const platform = await FakePlatform.start();
    const clock = new FakeClock();
    const pending: ServerResponse[] = [];
    const receiver = await startReceiver((response) => void pending.push(response));
    const options = { target: receiver.url, concurrency: 2, retries: 3, ordered, clock };
    const { reports } = startRun(platform, options);
    await reports.wait("ready");
    const objects = ["a", "b", "c", "a", "a", "d", "b"];
    const old = objects.map((object) => about(platform, object));
    await receiver.received(2);
    pending.shift()!.writeHead(500).end();
    await reports.wait("forwarded");
    await receiver.received(3);
    await reports.wait("received", old.length);
    platform.reset();
    const { dropped } = await reports.wait("reset");
    const inFlight = new Set(receiver.requests.slice(1).map(idOf));
    expect(dropped.toSorted()).toEqual(
      old
        .map(({ id }) => id)
        .filter((id) => !inFlight.has(id))
        .toSorted(),
    );
    const fresh = ["a", "a", "e"].map((object) => about(platform, object));
    await reports.wait("received", old.length + fresh.length);
    for (const response of pending.splice(0)) response.writeHead(500).end();
    await reports.wait("forwarded", 3);
    // The retries of before would be due.
    clock.advance(2_000);
    for (let count = 4; count <= 6; count += 1) {
      await receiver.received(count);
      pending.shift()!.end();
    }
    await reports.wait("forwarded", 6);
    clock.advance(10);
    await platform.until(() => platform.acknowledgedIds.size === old.length + fresh.length);
    expect(receiver.requests.slice(3).map(idOf).toSorted()).toEqual(fresh.map(({ id }) => id).toSorted());
    for (const id of dropped) expect(platform.acknowledged(id)).toEqual([{ seq: expect.any(Number), duration_ms: 0 }]);
  });

  it("drops the backlog of a listener that was disconnected meanwhile", async () => {
    const platform = await FakePlatform.start();
    const pending: ServerResponse[] = [];
    const receiver = await startReceiver((response) => void pending.push(response));
    const { reports } = startRun(platform, { target: receiver.url, concurrency: 1 });
    await reports.wait("ready");
    const old = [platform.append(), platform.append(), platform.append()].map(({ id }) => id);
    await receiver.received(1);
    await reports.wait("received", 3);
    platform.log.length = 0;
    platform.opening = (session) => {
      session.send(READY);
      session.send({ frame: "gap", from: old[0]!, to: "evt_1", reason: "reset" });
    };
    platform.cut();
    const gap = await reports.wait("gap");
    expect(gap).toMatchObject({ reason: "reset", dropped: old.slice(1) });
    const { id } = platform.append();
    await reports.wait("received", 4);
    pending.shift()!.end();
    await receiver.received(2);
    pending.shift()!.end();
    await platform.until(() => platform.acknowledged(id).length === 1);
    expect(receiver.requests.map(idOf)).toEqual([old[0], id]);
  });
});

describe("ordered forwarding", () => {
  it("forwards one event of an object at a time, in order, and different objects concurrently", async () => {
    const platform = await FakePlatform.start();
    const pending = new Map<string, ServerResponse>();
    const receiver = await startReceiver((response, request) => pending.set(idOf(request), response));
    const { reports } = startRun(platform, { target: receiver.url, ordered: true });
    await reports.wait("ready");
    const [a1, a2, b1, a3, b2] = ["a", "a", "b", "a", "b"].map((object) => about(platform, object));
    await reports.wait("received", 5);
    const end = async (event: { id: string }, count: number) => {
      pending.get(event.id)!.end();
      await receiver.received(count);
    };
    await receiver.received(2);
    expect(receiver.requests.map(idOf).sort()).toEqual([a1!.id, b1!.id].sort());
    await end(a1!, 3);
    await end(a2!, 4);
    await end(b1!, 5);
    expect(receiver.requests.slice(2).map(idOf)).toEqual([a2!.id, a3!.id, b2!.id]);
    pending.get(a3!.id)!.end();
    pending.get(b2!.id)!.end();
    await reports.wait("forwarded", 5);
  });

  it("lets no event overtake one of its object that waits for a retry", async () => {
    const platform = await FakePlatform.start();
    const clock = new FakeClock();
    const receiver = await startReceiver((response, request) => {
      const isFirst = receiver.requests.filter((other) => idOf(other) === idOf(request)).length === 1;
      response.writeHead(isFirst && idOf(request) === platform.log[0]!.id ? 500 : 200).end();
    });
    const { reports } = startRun(platform, { target: receiver.url, ordered: true, retries: 1, clock });
    await reports.wait("ready");
    const [a1, a2, b1] = ["a", "a", "b"].map((object) => about(platform, object));
    await reports.wait("forwarded", 2);
    expect(receiver.requests.map(idOf).sort()).toEqual([a1!.id, b1!.id].sort());
    clock.advance(2_000);
    await reports.wait("forwarded", 4);
    expect(receiver.requests.slice(2).map(idOf)).toEqual([a1!.id, a2!.id]);
  });

  it("forwards events about no object without an order", async () => {
    const platform = await FakePlatform.start();
    const receiver = await startReceiver();
    const { reports } = startRun(platform, { target: receiver.url, ordered: true });
    await reports.wait("ready");
    for (const body of ["not JSON", "null", '{"data":null}', '{"data":{"object":{"id":7}}}'])
      platform.append("a.b", body);
    await reports.wait("forwarded", 4);
    expect(receiver.requests).toHaveLength(4);
  });
});

describe("retries", () => {
  it("follow a failure after 1 s, 2 s …, and are all in the acknowledgement of the last outcome", async () => {
    const platform = await FakePlatform.start();
    const clock = new FakeClock();
    const statuses = [500, 503, 201];
    const receiver = await startReceiver((response) => response.writeHead(statuses.shift()!).end());
    const { reports, run } = startRun(platform, { target: receiver.url, retries: 3, clock, random: () => 0.5 });
    await reports.wait("ready");
    const { id } = platform.append();
    expect(await reports.wait("forwarded")).toMatchObject({ status: 500, attempt: 1, retryInMs: 1_000 });
    clock.advance(999);
    expect(receiver.requests).toHaveLength(1);
    clock.advance(1);
    expect(await reports.wait("forwarded", 2)).toMatchObject({ status: 503, attempt: 2, retryInMs: 2_000 });
    expect(platform.acknowledgements).toEqual([]);
    clock.advance(2_000);
    const last = await reports.wait("forwarded", 3);
    expect(last).toMatchObject({ status: 201, attempt: 3 });
    expect(last.retryInMs).toBeUndefined();
    clock.advance(2);
    await platform.until(() => platform.acknowledged(id).length === 1);
    expect(platform.acknowledged(id)).toEqual([
      {
        seq: 1,
        status_code: 201,
        duration_ms: 0,
        attempts: [
          { status_code: 500, duration_ms: 0, ago_ms: 3_000 },
          { status_code: 503, duration_ms: 0, ago_ms: 2_000 },
        ],
      },
    ]);
    expect(receiver.requests.map(attemptOf)).toEqual(["1", "2", "3"]);
    expect((await run.stop()).summary).toMatchObject({ received: 1, forwarded: 1, failed: 0 });
  });

  it.each([
    [429, "7", 7_000],
    [503, "86400", 60_000],
    [500, "7", 1_000],
    [503, "Thu, 01 Jan 1970 00:00:00 GMT", 1_000],
    [503, "Fri, 31 Dec 9999 23:59:59 GMT", 60_000],
  ])("follow the receiver's %i with Retry-After %s", async (status, value, wait) => {
    const platform = await FakePlatform.start();
    const receiver = await startReceiver((response) => response.writeHead(status, { "retry-after": value }).end());
    const options = { target: receiver.url, retries: 1, clock: new FakeClock(), random: () => 0.5 };
    const { reports } = startRun(platform, options);
    await reports.wait("ready");
    platform.append();
    expect(await reports.wait("forwarded")).toMatchObject({ retryInMs: wait });
  });

  it("stop after the given number", async () => {
    const platform = await FakePlatform.start();
    const clock = new FakeClock();
    const receiver = await startReceiver((response) => response.writeHead(500).end());
    const { reports, run } = startRun(platform, { target: receiver.url, retries: 1, clock });
    await reports.wait("ready");
    const { id } = platform.append();
    await reports.wait("forwarded");
    clock.advance(2_000);
    await reports.wait("forwarded", 2);
    clock.advance(2);
    await platform.until(() => platform.acknowledged(id).length === 1);
    expect(platform.acknowledged(id)).toMatchObject([{ status_code: 500 }]);
    expect((await run.stop()).summary).toMatchObject({ failed: 1 });
  });

  it("release their slot while they wait", async () => {
    const platform = await FakePlatform.start();
    const receiver = await startReceiver((response, request) =>
      response.writeHead(idOf(request) === platform.log[0]!.id ? 500 : 200).end(),
    );
    const options = { target: receiver.url, retries: 1, concurrency: 1, clock: new FakeClock() };
    const { reports } = startRun(platform, options);
    await reports.wait("ready");
    platform.append();
    platform.append();
    await reports.wait("forwarded", 2);
    expect(receiver.requests.map(attemptOf)).toEqual(["1", "1"]);
  });

  it("count as failed if a stop interrupts them, and are sent again in the next run", async () => {
    const platform = await FakePlatform.start();
    const clock = new FakeClock();
    const receiver = await startReceiver((response) => response.writeHead(500).end());
    const passed: string[] = [];
    const { reports, run } = startRun(platform, {
      target: receiver.url,
      retries: 5,
      clock,
      passed: (cursor) => passed.push(cursor),
    });
    const { cursor } = await reports.wait("ready");
    platform.append();
    await reports.wait("forwarded");
    expect((await run.stop()).summary).toMatchObject({ received: 1, forwarded: 0, failed: 1 });
    expect(platform.acknowledgements).toEqual([]);
    expect(passed).toEqual([cursor]);
    expect(clock.waiting).toEqual([]);
  });
});

describe("the position to resume from", () => {
  it("is after everything that was acknowledged before a stop", async () => {
    const platform = await FakePlatform.start();
    const receiver = await startReceiver();
    const passed: string[] = [];
    const { reports, run } = startRun(platform, {
      target: receiver.url,
      passed: (cursor) => passed.push(cursor),
    });
    await reports.wait("ready");
    for (let i = 0; i < 20; i += 1) platform.append();
    await reports.wait("forwarded", 20);
    await run.stop();
    expect(passed.at(-1)).toBe(platform.log.at(-1)!.id);
  });
});

describe("a pause", () => {
  it("starts no forwards until it ends", async () => {
    const platform = await FakePlatform.start();
    const receiver = await startReceiver();
    const { reports, run } = startRun(platform, { target: receiver.url });
    await reports.wait("ready");
    run.hold("user", { waiting: "forwarding is resumed", remedy: "Resume it" });
    platform.append();
    platform.append();
    await reports.wait("received", 2);
    await platform.session.roundTrip();
    expect(receiver.requests).toEqual([]);
    run.hold("user", undefined);
    await reports.wait("forwarded", 2);
  });
});

describe("an event that is resent manually", () => {
  it("is independent of its own delivery: neither counted nor acknowledged", async () => {
    const platform = await FakePlatform.start();
    const receiver = await startReceiver();
    const { reports, run } = startRun(platform, { target: receiver.url });
    await reports.wait("ready");
    const event = platform.append();
    await reports.wait("forwarded");
    expect(run.resend(event, 2)).toBe(1);
    expect(await reports.wait("forwarded", 2)).toMatchObject({ id: event.id, copy: "resent", resend: 1, attempt: 2 });
    expect((await run.stop()).summary).toMatchObject({ received: 1, forwarded: 1 });
    expect(platform.acknowledged(event.id)).toHaveLength(1);
    expect(run.resend(event, 2)).toBeUndefined();
  });

  it("is not sent without a receiver", async () => {
    const platform = await FakePlatform.start();
    const { reports, run } = startRun(platform);
    await reports.wait("ready");
    expect(run.resend(platform.append(), 2)).toBeUndefined();
  });
});
