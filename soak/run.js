// `npm run soak -- [--database sqlite|postgres] [--minutes 120] [--seed 1] [--rate 60]`: API load, a faulty receiver,
// listeners that reconnect, and kills at random; ends with a comparison of every acknowledged write with what receivers
// verified and what the API lists. Exits 0 when every verdict (verdicts.js) is met. Prints the report; `--out FOLDER`
// also writes it there, as <database>.md and <database>.svg.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { retainedBy } from "./retained.js";
import { startLoad } from "./load.js";
import { loadTesting, startPlatform } from "./platform.js";
import { drawPlot } from "./plot.js";
import { Phoenix } from "./processes.js";
import { pick, seededRandom } from "./random.js";
import { startReceiver } from "./receivers.js";
import { plotOf, reportOf } from "./report.js";
import { lookAt, queueDepth } from "./samples.js";
import { judge } from "./verdicts.js";

const SAMPLE_SECONDS = 2;
/** A garbage collection stops the process, so it happens far less often than reading the memory. */
const RETAINED_SECONDS = 20;
const ADVANCE_SECONDS = 6 * 3600;
/** Three days, in steps: each is over once everything due in it was attempted. */
const ADVANCES = 12;
const MAX_WAIT_SECONDS = 120;
/** The last part of the run has no kills, so that lives are long enough to judge what a process holds. */
const QUIET_SHARE = 0.2;
const SUBSCRIPTIONS = ["customer.*", "order.*"];
const { values } = parseArgs({
  options: {
    database: { type: "string", default: "sqlite" },
    minutes: { type: "string", default: "120" },
    seed: { type: "string", default: "1" },
    rate: { type: "string", default: "60" },
    out: { type: "string" },
  },
});
const seconds = Number(values.minutes) * 60;
const rate = Number(values.rate);
if (!(seconds > 0 && rate > 0)) throw new Error("--minutes and --rate must be numbers above 0");
if (!["sqlite", "postgres"].includes(values.database)) throw new Error("--database must be sqlite or postgres");
const random = seededRandom(Number(values.seed));
const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const say = (text) => process.stderr.write(`${text}\n`);

const testing = await loadTesting();
const platform = await startPlatform(values.database, testing);
const { baseUrl, key, folder } = platform;
const api = testing.apiOf(baseUrl, key);
const post = async (path, body) => {
  const { status, body: json } = await api("POST", path, body);
  if (status >= 300) throw new Error(`${path}: ${status} ${JSON.stringify(json)}`);
  return json;
};

let isHealed = false;
const faults = ["fail", "busy", "reset", "fail", "hang"];
const faultyBehavior = () => (isHealed || random() < 0.6 ? "accept" : pick(faults, random));
const secrets = { steady: "", faulty: "" };
const receivers = {
  steady: await startReceiver({ secrets: () => secrets.steady }),
  faulty: await startReceiver({ secrets: () => secrets.faulty, behavior: faultyBehavior }),
};
const endpoints = [];
for (const [name, { url }] of Object.entries(receivers)) {
  const { id, secret } = await post("/v1/webhook_endpoints", { url, events: SUBSCRIPTIONS });
  secrets[name] = secret;
  endpoints.push({ id, events: SUBSCRIPTIONS });
}
const listeners = [];
const heard = [];
for (const [name, ...flags] of [["listener 1"], ["listener 2", "--ordered"]]) {
  const receiver = await startReceiver({
    secrets: () => listener.ready?.secret ?? "",
    isOrdered: flags.includes("--ordered"),
  });
  const lives = [];
  const listener = new Phoenix(
    name,
    [
      "listen",
      "--json",
      "--forward-to",
      receiver.url,
      "--since",
      "last",
      "--wait",
      "2m",
      "--events",
      SUBSCRIPTIONS.join(),
      ...flags,
    ],
    { HOME: folder, SERVICE_BASE_URL: baseUrl, SERVICE_API_KEY: key, SERVICE_CONFIG_DIR: join(folder, name) },
    (line, life) => {
      const id = /^\{"event":"received","id":"(evt_\w+)"/.exec(line)?.[1];
      if (id !== undefined) (lives[life - 1] ??= []).push(id);
    },
  );
  await listener.start();
  receivers[name] = receiver;
  listeners.push(listener);
  heard.push({ name, lives, accepted: receiver.events });
}

const began = performance.now();
const elapsed = () => (performance.now() - began) / 1000;
const processes = [...platform.processes, ...listeners];
const samples = Object.fromEntries([...processes.map(({ name }) => [name, []]), ["queue", []]]);
const retained = Object.fromEntries(processes.map(({ name }) => [name, []]));
const kills = [];
let isOver = false;
const load = startLoad({ baseUrl, key, perSecond: rate });
const watching = Promise.all([watch(), watchRetained()]);
await Promise.all([killAtRandom(), pause(seconds * 1000)]);
await load.stop();
say(`${load.expected.size} events acknowledged, ${kills.length} kills; the faulty receiver heals, three days pass`);

isHealed = true;
for (let step = 0; step < ADVANCES; step++) {
  let clock = await post("/v1/test_clock/advance", { seconds: ADVANCE_SECONDS });
  for (; clock.status === "advancing"; await pause(500)) clock = (await api("GET", "/v1/test_clock")).body;
}
const isComplete = ({ accepted }) => [...load.expected].every((event) => accepted.has(event));
for (const [name, receiver] of Object.entries(receivers)) {
  say(`${name}: ${(await comesTrue(() => isComplete(receiver))) ? "complete" : "INCOMPLETE"}`);
}
await comesTrue(async () => (await queueDepth(baseUrl)) === 0);
const pending = await queueDepth(baseUrl);
isOver = true;
await watching;
for (const listener of listeners) await listener.stop();
const violations = await testing.findViolations({
  api,
  acknowledged: load.expected,
  endpoints,
  listeners: heard.map((listener) => ({ ...listener, lives: listener.lives.filter(Boolean) })),
});
for (const process of platform.processes) await process.stop();

const run = { receivers, expected: load.expected, processes, samples, retained, kills, pending, violations };
const verdicts = judge({ ...run, planned: rate * seconds, platforms: platform.processes.map(({ name }) => name) });
const title = `${values.database}, ${values.minutes} minutes, seed ${values.seed}, ${rate} writes/s: ${load.expected.size} events, ${kills.length} kills`;
const report = reportOf({ ...run, title, verdicts });
process.stdout.write(`${report.text}\n`);
if (values.out !== undefined) {
  mkdirSync(values.out, { recursive: true });
  const plot = drawPlot(plotOf({ ...run, title: `Soak: ${title} (red)`, seconds: elapsed() }));
  writeFileSync(join(values.out, `${values.database}.md`), `${report.text}\n`);
  writeFileSync(join(values.out, `${values.database}.svg`), plot);
}
for (const receiver of Object.values(receivers)) receiver.close();
await platform.close();
process.exitCode = report.isMet ? 0 : 1;

async function watch() {
  while (!isOver) {
    for (const process of processes) {
      const seen = lookAt(process);
      if (seen !== undefined) samples[process.name].push({ at: elapsed(), ...seen });
    }
    const depth = await queueDepth(baseUrl);
    if (depth !== undefined) samples.queue.push({ at: elapsed(), depth });
    await pause(SAMPLE_SECONDS * 1000);
  }
}

async function watchRetained() {
  while (!isOver) {
    for (const process of processes) {
      const life = process.lives;
      const at = elapsed();
      const seen = process.inspector === undefined ? undefined : await retainedBy(process.inspector);
      if (seen !== undefined && process.lives === life) retained[process.name].push({ at, life, ...seen });
    }
    for (let waited = 0; waited < RETAINED_SECONDS && !isOver; waited++) await pause(1000);
  }
}

/** About twelve kills, then none. */
async function killAtRandom() {
  const end = seconds * (1 - QUIET_SHARE);
  const mean = end / 12;
  for (;;) {
    await pause(mean * (0.5 + random()) * 1000);
    if (elapsed() >= end) return;
    const victim = pick(processes, random);
    kills.push([elapsed(), victim.name]);
    say(`${Math.round(elapsed())} s: kill -9 of ${victim.name}`);
    await victim.killAndRestart();
  }
}

/** Returns whether a condition becomes true in time. */
async function comesTrue(condition) {
  for (const start = performance.now(); performance.now() - start < MAX_WAIT_SECONDS * 1000; await pause(200)) {
    if (await condition()) return true;
  }
  return false;
}
