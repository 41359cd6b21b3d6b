// Webhook deliveries: a queue of events through the built platform to a receiver in another process, every attempt
// durable; against undici posting the same signed bytes to the same receiver. `node bench/run.js deliveries`.
import { atLeast, within } from "./goals.js";
import { api, startNode, startService, stop } from "./measure.js";
import { alternate, measure, rowOf } from "./rounds.js";

const ENDPOINTS = 8;
const EVENTS = 1_250;
const BYTES = 1024;
const ROUNDS = 3;
/** At most 20 are sent to one endpoint at a time. */
const SINGLE_EVENTS = 5_000;
/**
 * A queue a hundred times as long must drain at the same rate. It uses the maximum number of endpoints of an
 * environment.
 */
const LONG = { endpoints: 100, events: Number(process.env.BENCH_LONG_EVENTS ?? 1_000) };

function order(receiver, order) {
  receiver.child.stdin.write(`${JSON.stringify(order)}\n`);
}

/** Releases held responses. Returns the rate at which this many requests then get a response. */
export async function rateOf(receiver, count, start = async () => {}) {
  const done = new Promise((resolve) => {
    receiver.lines.once("line", (line) => resolve(JSON.parse(line)));
  });
  order(receiver, { target: count });
  await start();
  const { seconds } = await done;
  return count / seconds;
}

/** Queues events for endpoints whose receiver holds its responses, then measures how fast the queue drains. */
export async function drainRound(service, receiver, { endpoints, events }, processes = {}) {
  const call = api(service);
  const created = await Promise.all(
    Array.from({ length: endpoints }, (_, index) =>
      call("POST", "/v1/webhook_endpoints", { url: `${receiver.ready.url}${index}`, events: ["order.completed"] }),
    ),
  );
  order(receiver, { hold: true });
  const one = () =>
    call("POST", "/v1/events", { type: "order.completed", data: { id: "ord_1", filler: "x".repeat(BYTES - 218) } });
  for (let count = 0; count < events; count += 50) {
    await Promise.all(Array.from({ length: Math.min(50, events - count) }, one));
  }
  // Attempts in flight for longer than the timeout are retried later.
  const count = Math.floor(events * endpoints * 0.97);
  const round = await measure(count, { platform: service.child.pid, ...processes }, () => rateOf(receiver, count));
  await Promise.all(created.map(({ id }) => call("DELETE", `/v1/webhook_endpoints/${id}`)));
  return round;
}

async function directRound(receiver) {
  const count = EVENTS * ENDPOINTS;
  let microseconds = 0;
  const rate = await rateOf(receiver, count, async () => {
    const posts = ["bench/posts.js", receiver.ready.url, String(count), String(BYTES), "signed"];
    ({ microseconds } = (await startNode(posts)).ready);
  });
  return { rate, times: { client: microseconds / count } };
}

export async function benchDeliveries() {
  const service = await startService();
  service.lines.on("line", () => {});
  const receiver = await startNode(["bench/delivery-receiver.js"], { input: "pipe" });
  const drain = (queue) => drainRound(service, receiver, queue);
  const several = await alternate(ROUNDS, {
    baseline: () => directRound(receiver),
    measured: () => drain({ endpoints: ENDPOINTS, events: EVENTS }),
  });
  const single = await alternate(ROUNDS, {
    baseline: () => directRound(receiver),
    measured: () => drain({ endpoints: 1, events: SINGLE_EVENTS }),
  });
  const { rate: short } = await drain({ endpoints: LONG.endpoints, events: 100 });
  const { rate: long } = await drain(LONG);
  await stop(service);
  receiver.child.kill();
  const baseline = "signed undici POSTs/s, concurrency 32";
  return [
    rowOf(several, {
      name: `Deliveries: ${EVENTS * ENDPOINTS} of ${BYTES} bytes to ${ENDPOINTS} endpoints, every attempt durable`,
      unit: "deliveries/s",
      baseline,
      goal: atLeast(0.8),
    }),
    rowOf(single, {
      name: `Deliveries: ${SINGLE_EVENTS} to one endpoint, 20 at a time`,
      unit: "deliveries/s",
      baseline,
      goal: atLeast(0.7),
    }),
    {
      name: `Deliveries: a queue of ${LONG.events * LONG.endpoints} to ${LONG.endpoints} endpoints`,
      figure: `${Math.round(long)} deliveries/s`,
      baseline: `${Math.round(short)} deliveries/s from a queue of ${100 * LONG.endpoints}`,
      ratio: long / short,
      goal: within(0.8, 1.2),
    },
  ];
}
