// Several processes on one PostgreSQL: customers created and deliveries made per second by 1, 2 and 4 of them, and
// their processor time. The baseline is pgbench with the same statements. `node bench/run.js postgres`.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { requestsPerSecond } from "./api.js";
import { atLeast } from "./goals.js";
import { api, BIN, median, ROOT, startNode, stop, temporaryFolder } from "./measure.js";
import { countProcessorTime, sharesInWords } from "./processor-time.js";
import { ratioOf } from "./rounds.js";

const NODES = [1, 2, 4];
const ROUNDS = 3;
const CLIENTS = 16;
const SECONDS = 4;
/** Number of warm-up requests: a process responds to its first ones far slower. */
const WARM_UP = 4_000;
const DELIVERIES = 5_000;
const ENDPOINTS = 10;
const MASTER_KEY = "5a".repeat(32);

/** Starts a server that creates databases for the benchmarks. */
export async function startServer() {
  const outfile = join(ROOT, "dist/bench-postgres-server.mjs");
  await build({
    entryPoints: [join(ROOT, "bench/postgres-server.ts")],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    packages: "external",
    logLevel: "warning",
  });
  const server = await startNode([outfile], { input: "pipe" });
  const ask = (order) =>
    new Promise((resolve) => {
      server.lines.once("line", (line) => resolve(JSON.parse(line)));
      server.child.stdin.write(`${JSON.stringify(order)}\n`);
    });
  return { ...server, ask };
}

/** Starts processes on a database. */
export async function startProcesses(count, database) {
  const nodes = [];
  for (let i = 0; i < count; i++) {
    const flags = ["serve", "--json", "--port", "0", "--rate-limit", "0", "--allow-private-targets"];
    const env = { SERVICE_DATABASE: database, SERVICE_MASTER_KEY: MASTER_KEY };
    const node = await startNode([BIN, ...flags], { env });
    node.lines.on("line", () => {});
    nodes.push(node);
  }
  return nodes;
}

/** The statements of POST /v1/customers, as the platform sends them. */
function script(environment) {
  return `\\set r random(1, 1000000000000)
SELECT k.id, k.digest, k.scopes, e.clock_offset, a.id, a.name FROM api_keys k JOIN environments e ON e.id = k.environment
  JOIN accounts a ON a.id = e.account_id WHERE k.digest = '\\x00';
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT id, name, clock_offset, clock_held_until, events_removed_to, log_removed_seq, log_removed_replay FROM environments WHERE id = ${environment};
INSERT INTO customers (environment, id, email, email_key, name, phone, metadata, created) VALUES (${environment},
  'cus_p' || (:r)::text, 'p' || (:r)::text, 'p' || (:r)::text, 'Ada Lovelace', NULL, 'plan', 1) ON CONFLICT DO NOTHING;
INSERT INTO events (environment, id, type, object_id, created, body) VALUES (${environment}, 'evt_p' || (:r)::text,
  'customer.created', 'cus_p' || (:r)::text, 1, repeat('x', 380));
SELECT id, events FROM webhook_endpoints WHERE environment = ${environment} AND status = 'enabled';
COMMIT;
`;
}

function pgbench(url, file) {
  const args = ["-n", "-M", "prepared", "-c", String(CLIENTS), "-j", "2", "-T", String(SECONDS), "-f", file, url];
  try {
    const text = execFileSync("pgbench", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    return Number(/tps = ([\d.]+)/.exec(text)[1]);
  } catch {
    return undefined;
  }
}

async function writes(nodes, key, amount) {
  const rates = await Promise.all(
    nodes.map(({ ready }) => requestsPerSecond(ready.base_url, key, Math.ceil(32 / nodes.length), amount)),
  );
  return rates.reduce((sum, rate) => sum + rate, 0);
}

async function deliveries(server, database) {
  const before = performance.now();
  await server.ask({ queue: DELIVERIES, url: database });
  for (;;) {
    const [row] = await server.ask({
      sql: "SELECT 1 AS one FROM deliveries WHERE status = 'pending' LIMIT 1",
      url: database,
    });
    if (row === undefined) break;
    await new Promise((resolve) => {
      setTimeout(resolve, 20);
    });
  }
  return DELIVERIES / ((performance.now() - before) / 1000);
}

const SHOWN_STATEMENTS = 6;

/** Describes what a write sends: statements that several writes share count as a part of one. */
function inWords(statements, count) {
  if (statements.length === 0) return "not counted here";
  const total = (of) => statements.reduce((sum, one) => sum + one[of], 0) / count;
  const longest = statements.slice(0, SHOWN_STATEMENTS).map(({ text, calls, ms }) => {
    return `${text.slice(0, 32).trim()}… ${(calls / count).toFixed(2)} × ${((1000 * ms) / calls).toFixed(0)} µs`;
  });
  return `${total("calls").toFixed(2)} statements, ${(1000 * total("ms")).toFixed(0)} µs; ${longest.join(", ")}`;
}

/** Returns the round with the median rate. */
function middle(rounds) {
  const rate = median(rounds.map((round) => round.rate));
  return rounds.find((round) => round.rate === rate);
}

async function measure(server, receiver, folder, count) {
  const database = await server.ask({ create: true });
  const nodes = await startProcesses(count, database);
  const key = nodes[0].ready.sandbox_key;
  const [{ id }] = await server.ask({ sql: "SELECT id FROM environments WHERE name = 'sandbox'", url: database });
  const file = join(folder, "customers.sql");
  writeFileSync(file, script(id));
  const pids = nodes.map(({ child }) => child.pid);
  const counting = (threads, pgbench) => countProcessorTime({ threads, pgbench, database: server.child.pid });
  await writes(nodes, key, WARM_UP);
  const created = [];
  const raw = [];
  let statements = "";
  for (let round = 0; round < ROUNDS; round++) {
    const rawTime = counting({}, true);
    const transactions = pgbench(database, file);
    raw.push({ rate: transactions, words: sharesInWords(rawTime(), transactions * SECONDS) });
    await server.ask({ statements: true, url: database });
    const time = counting({ nodes: pids, "load generator": [process.pid] });
    const rate = await writes(nodes, key);
    created.push({ rate, words: sharesInWords(time(), rate * SECONDS) });
    statements = inWords(await server.ask({ statements: true, url: database }), rate * SECONDS);
  }
  const call = api(nodes[0]);
  for (let i = 0; i < ENDPOINTS; i++) {
    await call("POST", "/v1/webhook_endpoints", { url: `${receiver.ready.url}${i}`, events: ["order.completed"] });
  }
  const time = counting({ nodes: pids, receiver: [receiver.child.pid] });
  const delivered = await deliveries(server, database);
  const words = sharesInWords(time(), DELIVERIES);
  await Promise.all(nodes.map(stop));
  return { created, raw, statements, delivered: { rate: delivered, words } };
}

export async function benchPostgres() {
  const server = await startServer();
  const receiver = await startNode(["bench/delivery-receiver.js"], { input: "pipe" });
  receiver.lines.on("line", () => {});
  const folder = temporaryFolder();
  const rows = [];
  for (const count of NODES) {
    const { created, raw, statements, delivered } = await measure(server, receiver, folder, count);
    const known = raw.every(({ rate }) => rate !== undefined);
    const processes = `PostgreSQL, ${count} process${count === 1 ? "" : "es"}`;
    const [written, transactions] = [middle(created), middle(raw)];
    rows.push(
      {
        name: `${processes}: POST /v1/customers, 32 connections in all`,
        figure: `${Math.round(written.rate)} requests/s; ${written.words}`,
        baseline: known
          ? `${Math.round(transactions.rate)} transactions/s by pgbench, the same statements; ${transactions.words}`
          : "no pgbench here",
        ...(known ? ratioOf(created.map(({ rate }, i) => rate / raw[i].rate)) : {}),
        goal: atLeast(count > 2 ? 0.55 : 0.65),
      },
      { name: `${processes}: statements of a write, in the server`, figure: statements },
      {
        name: `${processes}: ${DELIVERIES} deliveries to ${ENDPOINTS} endpoints`,
        figure: `${Math.round(delivered.rate)} deliveries/s; ${delivered.words}`,
      },
    );
  }
  receiver.child.kill();
  server.child.stdin.end();
  return rows;
}
