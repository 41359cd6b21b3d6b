// `node bench/scale.js`: the platform's own code for claims, leases, fan-out and batches of writes, in virtual time, with
// 1 to 64 processes and up to 1,000,000 endpoints. Prints where throughput stops growing. The costs of scale-model.js are
// measured or assumed as it says; all that is printed is simulated.
import { pathToFileURL } from "node:url";
import { bundle } from "./measure.js";
import { ASSUMED, Cores, PROCESS, SERVER, Server, Time } from "./scale-model.js";

const { API_VERSIONS, createIdGenerator, DeliveryWorker, emit, EventBodies, TransactionRunner, Versions } =
  await import(pathToFileURL(await bundle("scale-parts")));

/** Virtual milliseconds. */
const WARM_UP = 300;
const MEASURED = 700;
/** Real milliseconds for a case. One that takes longer is measured over less virtual time. */
const MAX_REAL = 30_000;
const CONNECTIONS = 16;
const WRITERS = 32;
const LIMITS = { perEndpoint: 20, perProcess: 256, allAdvances: 2048, bodyBytes: 64 * 1024 * 1024 };

const silent = {
  debug() {},
  info() {},
  warn() {},
  error(fields) {
    throw fields.err;
  },
};
const random = { bytes: (size) => Buffer.alloc(size, 1), fraction: () => 0.5 };

/** Connections that units of work wait for. */
function createPool(server) {
  const idle = Array.from({ length: CONNECTIONS }, () => server.connect());
  const waiting = [];
  return {
    take: () => {
      const connection = idle.pop();
      return connection === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(connection);
    },
    release: (connection) => {
      const next = waiting.shift();
      if (next === undefined) idle.push(connection);
      else next(connection);
    },
  };
}

/** One process: its core, its connections, and its worker. */
function createProcess(time, server, number) {
  const core = new Cores(time, 1);
  const clock = {
    now: () => Math.floor(time.now),
    elapsed: () => time.now,
    uptime: () => time.now,
    after: (milliseconds, callback) => {
      const entry = time.at(time.now + milliseconds, callback);
      return () => (entry.callback = undefined);
    },
  };
  const runner = new TransactionRunner(createPool(server), (topics) => topics.has("deliveries") && server.notify(), {
    timeoutMs: 60_000,
    log: silent,
  });
  const reader = server.connect();
  const read = async (sql, parameters) => {
    const { rows } = await reader.execute(sql, parameters);
    if (rows.length > 0) await core.run(PROCESS.head * rows.length);
    return rows;
  };
  const database = {
    dialect: "postgres",
    all: read,
    allShared: read,
    get: async (sql, parameters) => (await read(sql, parameters))[0],
    write: (unit, options = {}) => runner.write(unit, options),
    subscribe: (_topic, callback) => server.subscribe(callback),
  };
  const sender = {
    attempt({ delivery, token, destination }, at, ended) {
      const outcome = { id: delivery.id, token, claimed_due: 0, status: "succeeded", next_attempt: null, at };
      const result = { status_code: 204, error: null, duration_ms: ASSUMED.receiver };
      const shown = { request_headers: null, response_headers: null, response_excerpt: null };
      const finished = { delivery, endpointId: destination.endpointId, outcome: { ...outcome, ...result, ...shown } };
      void core.run(PROCESS.delivery).then(() => time.at(time.now + ASSUMED.receiver, () => ended(finished)));
    },
  };
  const worker = new DeliveryWorker({
    database,
    clock,
    clockTrust: { isTrusted: () => true },
    random,
    log: silent,
    report() {},
    sender,
    opener: { secretsOf: () => [] },
    bodies: new EventBodies(LIMITS.bodyBytes),
    limits: LIMITS,
    owner: `process${number}`,
  });
  return { core, database, worker };
}

/** Writes events without a pause, as a caller with one connection does. */
async function writeEvents(time, { core, database }, context, count) {
  for (;;) {
    await core.run(PROCESS.write);
    const now = Math.floor(time.now);
    const event = { type: "order.completed", object: { id: "ord_1" } };
    const unit = (tx) => emit(tx, { ...context, now, newId: (kind) => context.generate(kind, now) }, event);
    await database.write(unit, { isolation: "batched" });
    count();
  }
}

async function simulate({ processes, endpoints, backlog, writers = 0 }) {
  const time = new Time();
  const server = new Server(time, endpoints, backlog);
  const all = Array.from({ length: processes }, (_, number) => createProcess(time, server, number));
  let written = 0;
  const account = { id: "acct_1", name: "model", version: API_VERSIONS.at(-1).date };
  const context = {
    tenant: { environment: 1, name: "sandbox", livemode: false, account },
    requestId: "req_1",
    versions: new Versions(API_VERSIONS),
    generate: createIdGenerator(random.bytes),
  };
  for (const one of all) {
    void one.worker.start();
    for (let writer = 0; writer < writers; writer++) void writeEvents(time, one, context, () => (written += 1));
  }
  const deadline = performance.now() + MAX_REAL;
  const warmUp = WARM_UP + 2 * endpoints * SERVER.head;
  await time.runUntil(backlog === 0 ? WARM_UP : warmUp, deadline);
  const began = time.now;
  const before = { recorded: server.recorded, busy: server.busy, cores: busyOf(all), statements: server.statements };
  const writtenBefore = written;
  await time.runUntil(began + MEASURED, deadline + MAX_REAL);
  const took = Math.max(1, time.now - began);
  const deliveries = server.recorded - before.recorded;
  const events = written - writtenBefore;
  return {
    deliveries: (deliveries * 1000) / took,
    events: (events * 1000) / took,
    server: (server.busy - before.busy) / took / ASSUMED.cores,
    process: (busyOf(all) - before.cores) / took / processes,
    firstAt: server.firstAt,
    statements: (server.statements - before.statements) / Math.max(1, deliveries + events),
  };
}

const busyOf = (processes) => processes.reduce((sum, { core }) => sum + core.busy, 0);

const CASES = [
  ...[1, 2, 4, 8, 16, 32, 64].map((processes) => ({ processes, endpoints: 1_000, backlog: 1_000 })),
  ...[100, 10_000, 100_000].map((endpoints) => ({ processes: 4, endpoints, backlog: Math.ceil(1e6 / endpoints) })),
  { processes: 1, endpoints: 1_000_000, backlog: 1 },
  ...[1, 4, 16, 64].map((processes) => ({ processes, endpoints: 1_000, backlog: 0, writers: WRITERS })),
];

console.log(
  "| Work | Processes | Endpoints | Events/s | Deliveries/s | Processes busy | Server busy | Statements each | First delivery after |",
);
console.log("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
for (const one of CASES) {
  const { deliveries, events, server, process, statements, firstAt } = await simulate(one);
  const percent = (share) => `${Math.min(100, Math.round(share * 100))} %`;
  const cells = [
    one.writers === undefined ? "a queue" : "events with 2 deliveries",
    one.processes,
    one.endpoints.toLocaleString("en-US"),
    one.writers === undefined ? "" : Math.round(events),
    Math.round(deliveries),
    percent(process),
    percent(server),
    statements.toFixed(2),
    `${(firstAt / 1000).toFixed(1)} s`,
  ];
  console.log(`| ${cells.join(" | ")} |`);
}
process.exit(0);
