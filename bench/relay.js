// `service listen`: stored events through the real platform to a receiver in a third process, every acknowledgement
// recorded; against undici posting the same bytes directly. The latency of single events is measured in peers.js.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { atLeast, atMost } from "./goals.js";
import { api, BIN, startNode, startService, stop } from "./measure.js";
import { alternate, measure, rowOf, timeRowOf } from "./rounds.js";

const EVENTS = 10_000;
const BYTES = 1024;
const BURST = 5_000;
const ROUNDS = 3;

/** Creates events whose bodies have 1 KiB. */
async function storeEvents(call, count) {
  const one = () =>
    call("POST", "/v1/events", { type: "order.completed", data: { id: "ord_1", filler: "x".repeat(BYTES - 218) } });
  const sample = await one();
  for (let created = 1; created < count; created += 100) {
    await Promise.all(Array.from({ length: Math.min(100, count - created) }, one));
  }
  return Buffer.byteLength(JSON.stringify(sample));
}

function nextCount(receiver, order) {
  const done = new Promise((resolve) => {
    receiver.lines.once("line", (line) => resolve(JSON.parse(line)));
  });
  receiver.child.stdin.write(`${JSON.stringify(order)}\n`);
  return done;
}

function environment({ ready }) {
  return { SERVICE_BASE_URL: ready.base_url, SERVICE_API_KEY: ready.sandbox_key, SERVICE_CONFIG_DIR: tmpdir() };
}

/** The processor time of both processes counts from the start of `listen`, as that of the direct posts does. */
async function relayRound(service, receiver, count, args = []) {
  const flags = ["--forward-to", receiver.ready.url, "--since", "1d", ...args];
  const done = nextCount(receiver, { target: count });
  const listen = spawn(process.execPath, [BIN, "listen", ...flags], { stdio: "ignore", env: environment(service) });
  const round = await measure(count, { listen: listen.pid, platform: service.child.pid }, async () => {
    return count / (await done).seconds;
  });
  await interrupt(listen);
  return round;
}

async function interrupt(child) {
  const ended = once(child, "exit");
  child.kill("SIGINT");
  await ended;
}

/** What a frame of a WebSocket brings to `listen`, a request of its own brings to `webhooks capture`. */
async function captureRound(receiver, bytes) {
  const done = nextCount(receiver, { target: BURST });
  const port = await freePort();
  const args = ["webhooks", "capture", "--port", String(port), "--forward-to", receiver.ready.url];
  const capture = spawn(process.execPath, [BIN, ...args], { stdio: "ignore", env: { SERVICE_CONFIG_DIR: tmpdir() } });
  const url = `http://127.0.0.1:${port}/`;
  const round = await measure(BURST, { capture: capture.pid }, async () => {
    while (!(await isThere(url))) {
      if (capture.exitCode !== null) throw new Error(`capture ended with ${capture.exitCode}`);
      await delay(20);
    }
    await startNode(["bench/posts.js", url, String(BURST), String(bytes)]);
    return BURST / (await done).seconds;
  });
  await interrupt(capture);
  return round;
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  return port;
}

const isThere = (url) =>
  fetch(url).then(
    () => true,
    () => false,
  );

async function directRound(receiver, bytes) {
  const done = nextCount(receiver, { target: EVENTS });
  const { ready } = await startNode(["bench/posts.js", receiver.ready.url, String(EVENTS), String(bytes)]);
  return { rate: EVENTS / (await done).seconds, times: { client: ready.microseconds / EVENTS } };
}

export async function benchRelay() {
  const service = await startService();
  const receiver = await startNode(["bench/receiver.js"], { input: "pipe" });
  const bytes = await storeEvents(api(service), EVENTS);
  const rounds = await alternate(ROUNDS, {
    baseline: () => directRound(receiver, bytes),
    measured: () => relayRound(service, receiver, EVENTS, ["--concurrency", "32"]),
  });
  await stop(service);
  receiver.child.kill();
  return [
    rowOf(rounds, {
      name: `Relay: ${EVENTS} stored events of ${bytes} bytes, every ack recorded`,
      unit: "events/s",
      baseline: "direct undici POSTs/s, concurrency 32",
      goal: atLeast(0.7),
    }),
    timeRowOf(rounds, {
      name: "Relay: processor time of the listening process for an event, against a direct POST",
      process: "listen",
      goal: atMost(1),
    }),
    timeRowOf(rounds, {
      name: "Relay: processor time of the platform for an event, against a direct POST",
      process: "platform",
      goal: atMost(0.45),
    }),
  ];
}

/** A part of its own: `--compare` runs the relay with builds from before `webhooks capture`, too. */
export async function benchCapture() {
  const service = await startService();
  const receiver = await startNode(["bench/receiver.js"], { input: "pipe" });
  const bytes = await storeEvents(api(service), BURST);
  const rounds = await alternate(ROUNDS, {
    baseline: () => relayRound(service, receiver, BURST),
    measured: () => captureRound(receiver, bytes),
  });
  for (const { baseline } of rounds) delete baseline.times.platform;
  await stop(service);
  receiver.child.kill();
  return [
    rowOf(rounds, {
      name: `Capture: deliveries beside listen, burst of ${BURST}`,
      unit: "deliveries/s",
      baseline: "events/s with listen",
      goal: atLeast(0.9),
    }),
    timeRowOf(rounds, {
      name: "Capture: processor time for a delivery, against that of listen for an event",
      process: "capture",
      goal: atMost(1.1),
    }),
  ];
}
