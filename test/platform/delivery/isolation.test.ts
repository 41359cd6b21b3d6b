import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer, type LookupFunction, type Socket } from "node:net";
import { Worker } from "node:worker_threads";
import { afterEach, describe, expect, it, vi } from "vitest";
import { systemClock } from "../../../src/platform/ports.ts";
import { figure, percentile } from "./support/figures.ts";
import { type HostedPlatform, hostPlatform } from "./support/hosted-platform.ts";
import { volume } from "../../support/volume.ts";
import { type ScriptedReceiver, startScriptedReceiver } from "./support/scripted-receiver.ts";
import { LOOPBACK_SPELLINGS } from "./support/spellings.ts";

const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function host(settings?: Parameters<typeof hostPlatform>[0]): Promise<HostedPlatform> {
  const platform = await hostPlatform(settings);
  closing.push(() => platform.close());
  return platform;
}

async function receive(script?: Parameters<typeof startScriptedReceiver>[0]): Promise<ScriptedReceiver> {
  const receiver = await startScriptedReceiver(script);
  closing.push(() => receiver.close());
  return receiver;
}

const endpoint = async (platform: HostedPlatform, url: string, events = ["*"]): Promise<string> =>
  (await platform.api("POST", "/v1/webhook_endpoints", { url, events })).body.id;

let names = 0;
async function createEvent(platform: HostedPlatform, type = "order.completed"): Promise<string> {
  return (await platform.api("POST", "/v1/events", { type, data: { id: `ord_${names++}` } })).body.id;
}

/** Creates events at a steady rate. Returns the time from each API response to its delivery. */
async function latencies(platform: HostedPlatform, receiver: ScriptedReceiver, count: number): Promise<number[]> {
  const created = new Map<string, number>();
  for (let i = 0; i < count; i++) {
    const id = await createEvent(platform, "customer.created");
    created.set(id, performance.now());
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await vi.waitFor(
    () => {
      const arrived = receiver.received.filter(({ event }) => created.has(event)).length;
      if (arrived < count) throw new Error(`${arrived} of ${count}`);
    },
    { timeout: 60_000, interval: 5 },
  );
  return receiver.received.filter(({ event }) => created.has(event)).map(({ event, at }) => at - created.get(event)!);
}

/** Responds once it learns that the other thread is blocked, and then notifies that thread. */
const RECEIVER_THREAD = `
  const { parentPort, workerData: flags } = require("node:worker_threads");
  require("node:http").createServer((request, response) => {
    const respond = () => {
      if (Atomics.load(flags, 0) === 0) return setImmediate(respond);
      response.end("in time", () => Atomics.notify(flags, 1, Atomics.store(flags, 1, 1)));
    };
    parentPort.postMessage("received");
    respond();
  }).listen(0, "127.0.0.1", function () { parentPort.postMessage("http://127.0.0.1:" + this.address().port); });
`;

describe("a platform that is suspended during an attempt", () => {
  it("accepts the response that arrived meanwhile, although the timeout has passed", async () => {
    const speed = 20;
    const platform = await host({
      clock: {
        now: systemClock.now,
        elapsed: () => systemClock.elapsed() * speed,
        uptime: systemClock.uptime,
        after: (milliseconds, callback) => systemClock.after(milliseconds / speed, callback),
      },
    });
    const flags = new Int32Array(new SharedArrayBuffer(8));
    const thread = new Worker(RECEIVER_THREAD, { eval: true, workerData: flags });
    closing.push(() => thread.terminate());
    const [url] = (await once(thread, "message")) as [string];
    const id = await endpoint(platform, url);
    const received = once(thread, "message");
    const event = await createEvent(platform);
    await received;
    const startedAt = performance.now();
    Atomics.store(flags, 0, 1);
    Atomics.wait(flags, 1, 0);
    // The process is blocked until more than a second after the timeout.
    const end = startedAt + 10_000 / speed + 1200;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, end - performance.now());
    await vi.waitFor(
      async () => {
        const { data } = (await platform.api("GET", `/v1/deliveries?event=${event}&endpoint=${id}`)).body;
        expect(data[0]).toMatchObject({ attempt_count: 1 });
        expect((await platform.api("GET", `/v1/deliveries/${data[0].id}`)).body).toMatchObject({
          status: "succeeded",
          attempts: [{ status_code: 200, error: null, response_excerpt: "in time" }],
        });
      },
      { timeout: 60_000 },
    );
  });
});

describe("receivers that misbehave", () => {
  const DELIVERIES = volume(100, 20);

  it("are disconnected after 10 s, and delay no others", async () => {
    // Stands still while deliveries are made beside the bad ones: a busy machine may need longer than 10 s for them.
    let heldAt: number | undefined;
    let held = 0;
    const elapsed = () => (heldAt ?? systemClock.elapsed()) - held;
    const platform = await host({ clock: { ...systemClock, elapsed } });
    const healthy = await receive();
    await endpoint(platform, healthy.url, ["customer.*"]);
    const baseline = await latencies(platform, healthy, DELIVERIES);

    const hanging = await receive(() => {});
    const dripping = await receive((_request, response) => {
      response.writeHead(200);
      const drip = setInterval(() => response.write("x"), 1000);
      response.on("close", () => clearInterval(drip));
    });
    const sockets = new Set<Socket>();
    const silent = createServer((socket) => {
      sockets.add(socket.on("close", () => sockets.delete(socket)).on("error", () => {}));
      socket.resume();
    });
    await new Promise<void>((resolve) => {
      silent.listen(0, "127.0.0.1", resolve);
    });
    closing.push(async () => {
      for (const socket of sockets) socket.destroy();
      silent.close();
    });
    const bad = new Set([
      await endpoint(platform, hanging.url, ["order.*"]),
      await endpoint(platform, dripping.url, ["order.*"]),
      // Accepts the connection and never starts TLS.
      await endpoint(platform, `https://127.0.0.1:${(silent.address() as AddressInfo).port}/`, ["order.*"]),
    ]);
    heldAt = systemClock.elapsed();
    await Promise.all(Array.from({ length: 40 }, () => createEvent(platform)));
    await hanging.until(20);
    const beside = await latencies(platform, healthy, DELIVERIES);
    const ended = () =>
      platform.activities.filter((activity) => activity.event === "delivery" && bad.has(activity.endpoint));
    // All requests to the healthy receiver arrived while the first attempts at the others were in flight.
    expect(ended()).toEqual([]);
    // At most 20 attempts are in flight; the rest wait for a slot.
    expect(hanging.received).toHaveLength(20);
    held = systemClock.elapsed() - heldAt;
    heldAt = undefined;
    await expect.poll(() => ended().length).toBeGreaterThanOrEqual(60);
    const durations: number[] = [];
    for (const activity of ended()) {
      if (activity.event !== "delivery") continue;
      expect(activity).toMatchObject({
        status: "pending",
        status_code: null,
        error: expect.stringMatching(/^timeout: /),
      });
      durations.push(activity.duration_ms);
    }
    // Timers are relative to the start of their event loop turn.
    expect(Math.min(...durations)).toBeGreaterThanOrEqual(9500);
    // Connections of finished attempts do not accumulate.
    await expect.poll(() => sockets.size).toBeLessThanOrEqual(20);
    figure(
      `p99 ${percentile(baseline, 0.99).toFixed(1)} ms alone, ${percentile(beside, 0.99).toFixed(1)} ms beside 3 that hang; ` +
        `their attempts ended after ${Math.min(...durations)} to ${Math.max(...durations)} ms`,
    );
  });

  it("cannot fill the memory with their responses", async () => {
    const platform = await host();
    const chunk = Buffer.alloc(1024 * 1024, "x");
    let sent = 0;
    const flood = createHttpServer((request, response) => {
      request.resume();
      response.writeHead(200);
      let left = 100;
      const send = () => {
        while (left-- > 0) {
          sent += chunk.length;
          if (!response.write(chunk)) return void response.once("drain", send);
        }
        response.end();
      };
      response.on("error", () => {});
      send();
    });
    await new Promise<void>((resolve) => {
      flood.listen(0, "127.0.0.1", resolve);
    });
    closing.push(
      () =>
        new Promise((resolve) => {
          flood.close(resolve);
          flood.closeAllConnections();
        }),
    );
    await endpoint(platform, `http://127.0.0.1:${(flood.address() as AddressInfo).port}/`);
    await createEvent(platform);
    await expect.poll(() => platform.activities.some(({ event }) => event === "delivery")).toBe(true);
    const before = process.memoryUsage().rss;
    for (let i = 0; i < 20; i++) await createEvent(platform);
    await expect.poll(() => platform.activities.filter(({ event }) => event === "delivery").length).toBe(21);
    const growth = (process.memoryUsage().rss - before) / 1024 / 1024;
    figure(
      `20 responses of 100 MB: ${growth.toFixed(1)} MB more memory; ${(sent / 1024 / 1024).toFixed(0)} MB left the receiver`,
    );
    expect(growth).toBeLessThan(20);
    const { data } = (await platform.api("GET", "/v1/deliveries?status=succeeded")).body;
    expect(data).toHaveLength(20);
    const shown = (await platform.api("GET", `/v1/deliveries/${data[0].id}`)).body;
    expect(shown.attempts[0]).toMatchObject({ status_code: 200, response_excerpt: "x".repeat(16 * 1024) });
  });
});

describe("many endpoints that hang", () => {
  it("leave slots for endpoints that respond", async () => {
    // The attempts at hanging receivers must not time out during the test, even on a slow machine.
    const slowness = 20;
    const platform = await host({
      deliveryLimits: { perEndpoint: 20, perProcess: 64 },
      clock: {
        now: systemClock.now,
        elapsed: () => systemClock.elapsed() / slowness,
        uptime: systemClock.uptime,
        after: (milliseconds, callback) => systemClock.after(milliseconds * slowness, callback),
      },
    });
    const hanging = await receive(() => {});
    const healthy = await receive();
    for (let i = 0; i < 12; i++) await endpoint(platform, `${hanging.url}/${i}`, ["order.*"]);
    for (let i = 0; i < 40; i++) await createEvent(platform);
    await hanging.until(40);
    await endpoint(platform, healthy.url, ["customer.*"]);
    const created: string[] = [];
    for (let i = 0; i < 30; i++) created.push(await createEvent(platform, "customer.created"));
    await healthy.until(30);
    expect(new Set(healthy.received.map(({ event }) => event))).toEqual(new Set(created));
    // None of the other attempts had finished.
    const { data } = (await platform.api("GET", "/v1/deliveries?status=pending&limit=100")).body;
    expect(data.every((delivery: { attempt_count: number }) => delivery.attempt_count === 0)).toBe(true);
    expect(hanging.received.length).toBeLessThanOrEqual(64);
  });
});

describe("many endpoints whose attempts have reached the time limit", () => {
  it("leave slots for endpoints that respond", async () => {
    let passed = 0;
    const deadlines = new Set<() => void>();
    /** The time limit of attempts passes when the test says so. */
    const expire = () => {
      passed += 10_000;
      for (const deadline of deadlines) deadline();
      deadlines.clear();
    };
    const platform = await host({
      deliveryLimits: { perEndpoint: 20, perProcess: 16 },
      clock: {
        ...systemClock,
        elapsed: () => systemClock.elapsed() + passed,
        after(milliseconds, callback) {
          if (milliseconds !== 10_000) return systemClock.after(milliseconds, callback);
          deadlines.add(callback);
          return () => deadlines.delete(callback);
        },
      },
    });
    const hanging = await receive(() => {});
    const healthy = await receive();
    for (let i = 0; i < 12; i++) await endpoint(platform, `${hanging.url}/${i}`, ["order.*"]);
    await endpoint(platform, healthy.url, ["customer.*"]);
    await createEvent(platform);
    await hanging.until(12);
    expire();
    const ended = () => platform.activities.filter(({ event }) => event === "delivery").length;
    await expect.poll(ended).toBe(12);
    await Promise.all(Array.from({ length: 20 }, () => createEvent(platform)));
    // An eighth of the slots is kept.
    await hanging.until(12 + 14);
    await createEvent(platform, "customer.created");
    await healthy.until(1);
    expect(hanging.received).toHaveLength(12 + 14);
  });
});

describe("a blocked target", () => {
  it("never receives a delivery, whatever the endpoint's URL is", async () => {
    const trap = createHttpServer((_request, response) => response.end());
    let hits = 0;
    trap.on("connection", () => (hits += 1));
    await new Promise<void>((resolve) => {
      trap.listen(0, "::", resolve);
    });
    closing.push(
      () =>
        new Promise((resolve) => {
          trap.close(resolve);
          trap.closeAllConnections();
        }),
    );
    const { port } = trap.address() as AddressInfo;
    const results: Record<string, string[]> = {
      "loopback.example": ["127.0.0.1"],
      "six.example": ["::1"],
      "mixed.example": ["93.184.216.34", "127.0.0.1"],
      "mapped.example": ["::ffff:127.0.0.1"],
      "metadata.example": ["169.254.169.254"],
    };
    const lookup: LookupFunction = (hostname, _options, callback) => {
      const found = results[hostname] ?? ["127.0.0.1"];
      callback(
        null,
        found.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
      );
    };
    // The endpoints were created while private targets were allowed; the restarted platform forbids them.
    const platform = await host({ lookup });
    const hosts = [...LOOPBACK_SPELLINGS, ...Object.keys(results)];
    for (const name of hosts) {
      await endpoint(platform, `${hosts.indexOf(name) % 2 === 0 ? "http" : "https"}://${name}:${port}/`);
    }
    await platform.restart({ allowPrivateTargets: false });
    const event = await createEvent(platform);
    const deliveries = async () => (await platform.api("GET", `/v1/deliveries?event=${event}&limit=100`)).body.data;
    await expect
      .poll(
        async () =>
          (await deliveries()).filter((delivery: { attempt_count: number }) => delivery.attempt_count === 1).length,
        {
          timeout: 60_000,
        },
      )
      .toBe(hosts.length);
    for (const { id } of await deliveries()) {
      const { attempts } = (await platform.api("GET", `/v1/deliveries/${id}`)).body;
      expect(attempts).toMatchObject([{ status_code: null, error: expect.stringMatching(/^blocked_target: /) }]);
    }
    expect(hits).toBe(0);
    figure(`${LOOPBACK_SPELLINGS.length} spellings and ${Object.keys(results).length} names: 0 reached`);
  });
});
