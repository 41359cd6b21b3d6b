// `npm run soak -- [--minutes 120] [--seed 1] [--rate 60]`: API load, a faulty receiver, listeners that reconnect, and
// kills at random; ends with a reconciliation of every acknowledged write against what receivers verified. Exit 0 means
// that every verdict (verdicts.js) is met. Writes soak/RESULTS.md and soak/plot.svg.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { startLoad } from "./load.js";
import { drawPlot } from "./plot.js";
import { Phoenix } from "./processes.js";
import { pick, seededRandom } from "./random.js";
import { startReceiver } from "./receivers.js";
import { plotOf, reportOf } from "./report.js";
import { lookAt, queueDepth } from "./samples.js";
import { judge } from "./verdicts.js";

const SAMPLE_SECONDS = 2;
const ADVANCE_SECONDS = 6 * 3600;
/** Three days, in steps: each answers once all that fell due in it was attempted. */
const ADVANCES = 12;
const MOST_WAIT_SECONDS = 120;
/** The last part of the run is left in peace: lives that are long enough to judge what a process holds. */
const PEACE = 0.2;
const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "120" },
    seed: { type: "string", default: "1" },
    rate: { type: "string", default: "60" },
  },
});
const seconds = Number(values.minutes) * 60;
const rate = Number(values.rate);
if (!(seconds > 0 && rate > 0)) throw new Error("--minutes and --rate are numbers above 0");
const random = seededRandom(Number(values.seed));
const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const folder = mkdtempSync(join(tmpdir(), "service-soak-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
const say = (text) => process.stderr.write(`${text}\n`);

const platform = new Phoenix(
  "platform",
  [
    "serve",
    "--json",
    "--allow-private-targets",
    "--rate-limit=0",
    `--port=${await freePort()}`,
    `--database=${join(folder, "platform.db")}`,
  ],
  { HOME: folder },
);
await platform.start();
const { base_url: baseUrl, sandbox_key: key } = platform.ready;
const post = async (path, body) => {
  const reply = await fetch(baseUrl + path, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const answer = await reply.json();
  if (!reply.ok) throw new Error(`${path}: ${JSON.stringify(answer)}`);
  return answer;
};

let healing = false;
const faults = ["fail", "busy", "reset", "fail", "hang"];
const faultyMood = () => (healing || random() < 0.6 ? "accept" : pick(faults, random));
const secrets = { steady: "", faulty: "" };
const receivers = {
  steady: await startReceiver({ secrets: () => secrets.steady }),
  faulty: await startReceiver({ secrets: () => secrets.faulty, mood: faultyMood }),
};
for (const [name, { url }] of Object.entries(receivers)) {
  secrets[name] = (await post("/v1/webhook_endpoints", { url, events: ["customer.*", "order.*"] })).secret;
}
const listeners = [];
for (const [name, ...flags] of [["listener 1"], ["listener 2", "--ordered"]]) {
  const receiver = await startReceiver({
    secrets: () => listener.ready?.secret ?? "",
    isOrdered: flags.includes("--ordered"),
  });
  const listener = new Phoenix(
    name,
    ["listen", "--json", "--forward-to", receiver.url, "--since", "last", "--events", "customer.*,order.*", ...flags],
    { HOME: folder, SERVICE_BASE_URL: baseUrl, SERVICE_API_KEY: key, SERVICE_CONFIG_DIR: join(folder, name) },
  );
  await listener.start();
  receivers[name] = receiver;
  listeners.push(listener);
}

const began = performance.now();
const elapsed = () => (performance.now() - began) / 1000;
const samples = { platform: [], "listener 1": [], "listener 2": [], queue: [] };
const kills = [];
const processes = [platform, ...listeners];
let over = false;
const load = startLoad({ baseUrl, key, perSecond: rate });
const watching = watch();
await Promise.all([killAtRandom(), pause(seconds * 1000)]);
await load.stop();
say(`${load.expected.size} events acknowledged, ${kills.length} kills; the faulty receiver heals, three days pass`);

healing = true;
for (let step = 0; step < ADVANCES; step++) await post("/v1/test_clock/advance", { seconds: ADVANCE_SECONDS });
const isComplete = ({ accepted }) => [...load.expected].every((event) => accepted.has(event));
for (const [name, receiver] of Object.entries(receivers)) {
  say(`${name}: ${(await comes(() => isComplete(receiver))) ? "complete" : "INCOMPLETE"}`);
}
await comes(async () => (await queueDepth(baseUrl)) === 0);
const pending = await queueDepth(baseUrl);
over = true;
await watching;
for (const process of processes.toReversed()) await process.stop();

const run = { receivers, expected: load.expected, processes, samples, kills, pending };
const verdicts = judge({ ...run, planned: rate * seconds });
const title = `${values.minutes} minutes, seed ${values.seed}, ${rate} writes/s: ${load.expected.size} events, ${kills.length} kills`;
const report = reportOf({ ...run, title, verdicts });
process.stdout.write(`${report.text}\n`);
const here = (name) => fileURLToPath(new URL(name, import.meta.url));
writeFileSync(here("RESULTS.md"), `# Soak\n\n${report.text}\n\n![Memory, open files and queue over time](plot.svg)\n`);
writeFileSync(here("plot.svg"), drawPlot(plotOf({ ...run, title: `Soak: ${title} (red)`, seconds: elapsed() })));
for (const receiver of Object.values(receivers)) receiver.close();
process.exitCode = report.isMet ? 0 : 1;

async function watch() {
  while (!over) {
    for (const process of processes) {
      const seen = lookAt(process);
      if (seen !== undefined) samples[process.name].push({ at: elapsed(), ...seen });
    }
    const depth = await queueDepth(baseUrl);
    if (depth !== undefined) samples.queue.push({ at: elapsed(), depth });
    await pause(SAMPLE_SECONDS * 1000);
  }
}

/** Twelve kills or so, then peace. */
async function killAtRandom() {
  const end = seconds * (1 - PEACE);
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

/** Whether a condition comes to hold in time. */
async function comes(condition) {
  for (const start = performance.now(); performance.now() - start < MOST_WAIT_SECONDS * 1000; await pause(200)) {
    if (await condition()) return true;
  }
  return false;
}

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
