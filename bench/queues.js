// Deliveries beside what a team would build instead: a queue library and undici, with the same receiver and durability.
// BullMQ on Redis that syncs every write; graphile-worker and pg-boss on PostgreSQL. `node bench/run.js queues`.
import { spawn } from "node:child_process";
import { createServer } from "node:net";
import { drainRound, rateOf } from "./deliveries.js";
import { atLeast } from "./goals.js";
import { installPackages } from "./install-packages.js";
import { bundle, endWithUs, median, startNode, startService, stop, temporaryFolder } from "./measure.js";
import { startServer } from "./postgres.js";
import { timeBelow } from "./processor-time.js";
import { measure } from "./rounds.js";

// The newest that run on Node 20.
const PACKAGES = ["bullmq@6.7.0", "ioredis@5.11.0", "graphile-worker@0.17.3", "pg-boss@10.4.2"];
const ROUNDS = 3;
const JOBS = 5_000;
const BYTES = 1024;
const QUEUE = { endpoints: 8, events: JOBS / 8 };
const REDIS = ["redis-server", "redis-tools", "libjemalloc2", "liblua5.1-0", "lua-bitop", "lua-cjson", "liblzf1"];

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => {
    server.once("listening", resolve);
  });
  const { port } = server.address();
  await new Promise((resolve) => {
    server.close(resolve);
  });
  return port;
}

/** Starts a Redis whose every write reaches the disk before its response. Returns undefined if there is none. */
async function startRedis() {
  const { environmentOf, findProgram } = await import(await bundle("debian"));
  const program = findProgram("redis-server", ...REDIS);
  if (program === undefined) return undefined;
  const port = await freePort();
  const durable = ["--appendonly", "yes", "--appendfsync", "always", "--save", "", "--maxmemory-policy", "noeviction"];
  const args = ["--port", String(port), "--bind", "127.0.0.1", "--dir", temporaryFolder(), ...durable];
  const child = spawn(program, args, { env: environmentOf(program), stdio: ["ignore", "pipe", "inherit"] });
  endWithUs(child);
  await new Promise((resolve, reject) => {
    child.stdout.on("data", (text) => String(text).includes("Ready to accept connections") && resolve());
    child.once("exit", (code) => reject(new Error(`redis-server ended with ${code}`)));
  });
  return { child, port };
}

async function peerRound(library, { folder, address, database }, receiver) {
  const args = ["bench/queue-peer.js", library, folder, address, receiver.ready.url, String(JOBS), String(BYTES)];
  const peer = await startNode(args, { input: "pipe" });
  // As for `service`: what is in flight at the start does not count.
  const count = Math.floor(JOBS * 0.97);
  const round = await measure(count, { process: peer.child.pid, ...database }, () =>
    rateOf(receiver, count, async () => {
      peer.child.stdin.write("begin\n");
    }),
  );
  await stop(peer);
  return round;
}

async function serviceRound(flags, database, receiver) {
  const service = await startService(flags);
  service.lines.on("line", () => {});
  await drainRound(service, receiver, QUEUE);
  const round = await drainRound(service, receiver, QUEUE, database);
  await stop(service);
  return round;
}

function words(rounds) {
  const of = (name) => Math.round(median(rounds.map(({ times }) => times[name])));
  const times = Object.keys(rounds[0].times).map((name) => `${name} ${of(name)} µs`);
  return `${Math.round(median(rounds.map(({ rate }) => rate)))}/s (${times.join(", ")})`;
}

/** Runs all in turn, `service` first. Its ratio is to the fastest of the others. */
async function rowFor(store, rounds) {
  const results = {};
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, run] of Object.entries(rounds)) (results[name] ??= []).push(await run());
  }
  const { service, ...others } = results;
  const rateOfAll = (measured) => median(measured.map(({ rate }) => rate));
  return {
    name: `Beside other queues: ${JOBS} deliveries of ${BYTES} bytes, ${store}`,
    figure: words(service),
    baseline: Object.entries(others)
      .map(([name, measured]) => `${name} ${words(measured)}`)
      .join(", "),
    ratio: rateOfAll(service) / Math.max(...Object.values(others).map(rateOfAll)),
    goal: atLeast(1),
  };
}

export async function benchQueues(say) {
  const { folder, problem } = await installPackages(PACKAGES, say);
  if (problem !== undefined) return [{ name: "Beside other queues", figure: `left out: ${problem}` }];
  const receiver = await startNode(["bench/delivery-receiver.js"], { input: "pipe" });
  const rows = [];
  const redis = await startRedis();
  if (redis === undefined) say("BullMQ is left out: there is no redis-server.");
  else {
    const peer = () => ({ folder, address: String(redis.port), database: { Redis: redis.child.pid } });
    rows.push(
      await rowFor("SQLite and Redis", {
        service: () => serviceRound(undefined, {}, receiver),
        BullMQ: () => peerRound("bullmq", peer(), receiver),
      }),
    );
    redis.child.kill();
  }
  const server = await startServer();
  const database = { PostgreSQL: () => timeBelow(server.child.pid) };
  const peer = async () => ({ folder, address: await server.ask({ create: true }), database });
  rows.push(
    await rowFor("PostgreSQL", {
      service: async () => serviceRound(["--database", await server.ask({ create: true })], database, receiver),
      "graphile-worker": async () => peerRound("graphile-worker", await peer(), receiver),
      "pg-boss": async () => peerRound("pg-boss", await peer(), receiver),
    }),
  );
  server.child.stdin.end();
  receiver.child.kill();
  return rows;
}
