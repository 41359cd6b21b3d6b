// What large data costs everyone else: searches, lists and waits of one client on events of 1 MB, at once, and meanwhile
// the latency of a probe and the memory of the platform. `node bench/run.js budgets`.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { Agent, request } from "undici";
import { atMost } from "./goals.js";
import { api, startService, stop } from "./measure.js";
import { startProcesses, startServer } from "./postgres.js";

const EVENTS = Number(process.env.BENCH_LARGE_EVENTS ?? 300);
const EVENT_BYTES = 1_000_000;
const SEARCHES = 50;
const LISTS = 12;
const LISTED = 100;
const WAITS = 8;
const WAIT_SECONDS = 10;

/** In a thread of its own, which the large responses of the others do not delay. */
const PROBE = `
const { parentPort, workerData } = require("node:worker_threads");
const probe = async () => await (await fetch(workerData)).text();
(async () => {
  await probe();
  for (let slowest = 0; ; await new Promise((resolve) => setTimeout(resolve, 20))) {
    const start = performance.now();
    await probe();
    slowest = Math.max(slowest, performance.now() - start);
    parentPort.postMessage(slowest);
  }
})();
`;

/** Returns the highest resident memory that a process has had, in MB. */
function peakOf({ child }) {
  const [, kilobytes] = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"));
  return Number(kilobytes) / 1000;
}

/** Reads 100 events, one page after the other. */
async function readHundred(call) {
  let cursor = "";
  for (let read = 0; read < LISTED && cursor !== null;) {
    const text = await call(`/v1/events?limit=${LISTED - read}${cursor === "" ? "" : `&cursor=${cursor}`}`);
    read += text.split('"object":"event"').length - 1;
    cursor = JSON.parse(text.slice(text.lastIndexOf('"next_cursor":') + 14, -1));
  }
}

async function measure(service) {
  const post = api(service);
  const item = { sku: "A-1", name: "Chair", price: { amount: 4200, currency: "EUR" } };
  const items = Array.from({ length: Math.ceil(EVENT_BYTES / JSON.stringify(item).length) }, () => item);
  for (let count = 0; count < EVENTS; count++)
    await post("POST", "/v1/events", { type: "order.created", data: { items } });

  const dispatcher = new Agent({ connections: 256 });
  const headers = { authorization: `Bearer ${service.ready.sandbox_key}` };
  const call = async (path) => {
    const response = await request(service.ready.base_url + path, { headers, dispatcher });
    const body = await response.body.text();
    if (response.statusCode !== 200) throw new Error(`${path}: ${body}`);
    return body;
  };
  const wait = async () => {
    const response = await request(`${service.ready.base_url}/mcp`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json", accept: "application/json, text/event-stream" },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name: "wait_for_event", arguments: { type: "payment.failed", timeout_seconds: WAIT_SECONDS } },
      }),
      dispatcher,
    });
    const text = await response.body.text();
    if (!text.includes('"event":null')) throw new Error(text.slice(0, 500));
  };

  const probe = new Worker(PROBE, { eval: true, workerData: `${service.ready.base_url}/healthz` });
  let slowest = 0;
  probe.on("message", (milliseconds) => (slowest = milliseconds));
  await once(probe, "message");
  await Promise.all([
    ...Array.from({ length: SEARCHES }, () => call("/v1/events?limit=1&query=zzz")),
    ...Array.from({ length: LISTS }, () => readHundred(call)),
    ...Array.from({ length: WAITS }, wait),
  ]);
  await once(probe, "message");
  await probe.terminate();
  const megabytes = peakOf(service);
  await dispatcher.close();
  return { slowest, megabytes };
}

function rowsOf(name, { slowest, megabytes }) {
  const what = `${EVENTS} events of 1 MB on ${name}, ${SEARCHES} searches, ${LISTS} lists and ${WAITS} waits at once`;
  return [
    { name: `${what}: slowest /healthz`, figure: `${slowest.toFixed(0)} ms`, value: slowest, goal: atMost(250, "ms") },
    { name: `${what}: memory`, figure: `${megabytes.toFixed(0)} MB`, value: megabytes, goal: atMost(400, "MB") },
  ];
}

export async function benchBudgets(say) {
  const onFile = await startService();
  onFile.lines.on("line", () => {});
  say("  SQLite");
  const rows = rowsOf("SQLite", await measure(onFile));
  await stop(onFile);
  say("  PostgreSQL");
  const server = await startServer();
  const [node] = await startProcesses(1, await server.ask({ create: true }));
  rows.push(...rowsOf("PostgreSQL", await measure(node)));
  await stop(node);
  server.child.stdin.end();
  await stop(server);
  return rows;
}
