// `service listen`: stored events through the real platform to a receiver in a third process, every acknowledgement
// recorded; against undici posting the same bytes directly. The latency of single events is measured in peers.js.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { atLeast, atMost } from "./goals.js";
import { api, BIN, startNode, startService, stop } from "./measure.js";
import { alternate, measure, rowOf, timeRowOf } from "./rounds.js";

const EVENTS = 10_000;
const BYTES = 1024;
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
async function relayRound(service, receiver, args) {
  const flags = ["--forward-to", receiver.ready.url, "--since", "1d", ...args];
  const done = nextCount(receiver, { target: EVENTS });
  const listen = spawn(process.execPath, [BIN, "listen", ...flags], { stdio: "ignore", env: environment(service) });
  const round = await measure(EVENTS, { listen: listen.pid, platform: service.child.pid }, async () => {
    return EVENTS / (await done).seconds;
  });
  const ended = once(listen, "exit");
  listen.kill("SIGINT");
  await ended;
  return round;
}

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
    measured: () => relayRound(service, receiver, ["--concurrency", "32"]),
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
