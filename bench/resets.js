// Resets: how long one takes with a million events, with its commit, against one with a thousand; and what a request
// waits while the rows disappear, against the same platform before; on both databases. `node bench/run.js resets`.
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { atMost } from "./goals.js";
import { api, bundle, startNode, startService, stop, temporaryFolder } from "./measure.js";
import { startProcesses, startServer } from "./postgres.js";

const FEW = 1_000;
const MANY = Number(process.env.BENCH_RESET_EVENTS ?? 1_000_000);
const IDLE_MS = 20_000;
/** Between two requests: few enough that they do not wait for each other. */
const PAUSE_MS = 10;

/** Sends reads and durable writes in turn until `isOver`. Returns the times of each kind in milliseconds. */
async function timesUntil(isOver, call) {
  const times = { read: [], write: [] };
  const requests = {
    read: () => call("GET", "/v1/orders?limit=20"),
    write: () => call("POST", "/v1/orders", { amount: 1, currency: "EUR" }),
  };
  while (!isOver()) {
    for (const [kind, request] of Object.entries(requests)) {
      const began = performance.now();
      await request();
      times[kind].push(performance.now() - began);
      await delay(PAUSE_MS);
    }
  }
  return times;
}

function summaryOf(times) {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  return { p50: at(0.5), p99: at(0.99), max: sorted.at(-1), count: sorted.length };
}

/** Starts a platform on an empty database, and fills it while it is stopped. Returns its key, and a reset's time. */
async function fill(loader, { place, start }, events) {
  const first = await start();
  const { sandbox_key: key } = first.ready;
  await stop(first);
  const { ready } = await startNode([loader, "fill", place, String(events)]);
  return { key, reset: ready.reset };
}

async function measure(name, create) {
  const loader = await bundle("resets-loader");
  const few = await fill(loader, await create(), FEW);
  const { place, start } = await create();
  const many = await fill(loader, { place, start }, MANY);
  const service = await start();
  service.ready.sandbox_key = many.key;
  const call = api(service);
  const began = performance.now();
  const idle = await timesUntil(() => performance.now() - began > IDLE_MS, call);
  const resetBegan = performance.now();
  await call("POST", "/v1/sandbox/reset");
  const resetMs = performance.now() - resetBegan;
  const watch = await startNode([loader, "watch", place]);
  await once(watch.lines, "line");
  const removalBegan = performance.now();
  let isGone = false;
  watch.lines.once("line", () => (isGone = true));
  const removing = await timesUntil(() => isGone, call);
  const seconds = (performance.now() - removalBegan) / 1000;
  await stop(service);
  const ms = (number) => `${number.toFixed(1)} ms`;
  return [
    {
      name: `Resets, ${name}: a reset with ${MANY} events, with its commit`,
      figure: `${ms(many.reset)}; by request ${ms(resetMs)}, its rows gone in ${Math.round(seconds)} s`,
      baseline: `${ms(few.reset)} with ${FEW}`,
      ratio: many.reset / few.reset,
      goal: atMost(2),
    },
    ...["read", "write"].flatMap((kind) => {
      const [before, during] = [summaryOf(idle[kind]), summaryOf(removing[kind])];
      return [
        {
          name: `Resets, ${name}: a ${kind} while the rows disappear, p99`,
          figure: `${ms(during.p99)}; p50 ${ms(during.p50)}, longest ${ms(during.max)} of ${during.count}`,
          baseline: `${ms(before.p99)} before; p50 ${ms(before.p50)}, longest ${ms(before.max)} of ${before.count}`,
          ratio: during.p99 / before.p99,
          goal: atMost(2),
        },
      ];
    }),
  ];
}

export async function benchResets() {
  const onFile = async () => {
    const place = join(temporaryFolder(), "platform.db");
    return { place, start: () => startService(["--database", place]) };
  };
  const rows = await measure("SQLite", onFile);
  const server = await startServer();
  const onServer = async () => {
    const place = await server.ask({ create: true });
    return { place, start: async () => (await startProcesses(1, place))[0] };
  };
  rows.push(...(await measure("PostgreSQL", onServer)));
  server.child.stdin.end();
  return rows;
}
