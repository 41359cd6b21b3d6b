// `npm run soak -- [--minutes 120] [--seed 1] [--rate 60]`: API load, a faulty receiver, listeners that reconnect, and
// kills at random; ends with a reconciliation of every acknowledged write against what receivers verified. Exit 0 means
// that nothing was lost. Writes soak/RESULTS.md and soak/plot.svg.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { startLoad } from "./load.js";
import { drawPlot } from "./plot.js";
import { Phoenix } from "./processes.js";
import { startReceiver } from "./receivers.js";
import { growth, lookAt, queueDepth } from "./samples.js";

const SAMPLE_SECONDS = 2;
const THREE_DAYS = 3 * 86_400;
const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "120" },
    seed: { type: "string", default: "1" },
    rate: { type: "string", default: "60" },
  },
});
const seconds = Number(values.minutes) * 60;
const random = seededRandom(Number(values.seed));
const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const folder = mkdtempSync(join(tmpdir(), "service-soak-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
const say = (text) => process.stderr.write(`${text}\n`);

const port = await freePort();
const platform = new Phoenix(
  "platform",
  [
    "serve",
    "--json",
    "--allow-private-targets",
    "--rate-limit=0",
    `--port=${port}`,
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
const faultyMood = () => (healing || random() < 0.6 ? "accept" : pick(["fail", "busy", "reset", "fail", "hang"]));
const secrets = { steady: "", faulty: "" };
const receivers = {
  steady: await startReceiver({ secrets: () => secrets.steady }),
  faulty: await startReceiver({ secrets: () => secrets.faulty, mood: faultyMood }),
};
for (const [name, { url }] of Object.entries(receivers)) {
  secrets[name] = (await post("/v1/webhook_endpoints", { url, events: ["customer.*", "order.*"] })).secret;
}
const listeners = [];
for (const name of ["listener 1", "listener 2"]) {
  const receiver = await startReceiver({ secrets: () => listener.ready?.secret ?? "" });
  const listener = new Phoenix(
    name,
    ["listen", "--json", "--forward-to", receiver.url, "--since", "last", "--events", "customer.*,order.*"],
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
const load = startLoad({ baseUrl, key, perSecond: Number(values.rate) });
const watching = watch();
const killing = killAtRandom();
await Promise.all([killing, pause(seconds * 1000)]);
await load.stop();
say(`${load.expected.size} events acknowledged, ${kills.length} kills; the faulty receiver heals, three days pass`);

healing = true;
// What was under way at the end of the load must be over before the clock moves, or it would still be leased.
await post("/v1/test_clock/advance", { seconds: THREE_DAYS });
const complete = (receiver) => [...load.expected].every((event) => receiver.accepted.has(event));
for (const [name, receiver] of Object.entries(receivers)) {
  for (let patience = 0; patience < 600 && !complete(receiver); patience++) await pause(200);
  say(`${name}: ${complete(receiver) ? "complete" : "INCOMPLETE"}`);
}
over = true;
await watching;
for (const process of processes.toReversed()) await process.stop();

const report = reconcile();
process.stdout.write(`${report.text}\n`);
const here = (name) => fileURLToPath(new URL(name, import.meta.url));
writeFileSync(here("RESULTS.md"), `# Soak\n\n${report.text}\n\n![Memory, open files and queue over time](plot.svg)\n`);
writeFileSync(here("plot.svg"), drawPlot(plotted()));
for (const receiver of Object.values(receivers)) receiver.close();
process.exitCode = report.lost === 0 ? 0 : 1;

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

/** Lives last a twelfth of the run on average, so that growth within one can be seen. */
async function killAtRandom() {
  const mean = seconds / 12;
  while (elapsed() < seconds) {
    await pause(Math.min(mean * (0.5 + random()), Math.max(0, seconds - elapsed())) * 1000);
    if (elapsed() >= seconds) return;
    const victim = pick([platform, ...listeners]);
    kills.push([elapsed(), victim.name]);
    say(`${Math.round(elapsed())} s: kill -9 of ${victim.name}`);
    await victim.killAndRestart();
  }
}

function reconcile() {
  let lost = 0;
  const rows = Object.entries(receivers).map(([name, { accepted, refused }]) => {
    const missing = [...load.expected].filter((event) => !accepted.has(event)).length;
    const twice = [...accepted.values()].filter((count) => count > 1).length;
    lost += missing + refused.length;
    return `| ${name} | ${accepted.size} | ${missing} | ${twice} | ${refused.length} |`;
  });
  const flat = processes.map(({ name }) => {
    const seen = samples[name];
    const most = (what) => Math.max(...seen.map((sample) => sample[what]));
    const ratio = (what) => growth(seen, what)?.toFixed(2) ?? "lives too short";
    return `| ${name} | ${Math.round(most("memory"))} MB | ${ratio("memory")} | ${most("files")} | ${ratio("files")} |`;
  });
  const text = [
    `${values.minutes} minutes, seed ${values.seed}, ${values.rate} writes/s: ${load.expected.size} events acknowledged, ` +
      `${kills.length} kills (${kills.filter(([, name]) => name === "platform").length} of the platform), ${lost} lost.`,
    "",
    "| Receiver | Verified events | Lost | Came more than once | Refused signatures |",
    "| --- | --- | --- | --- | --- |",
    ...rows,
    "",
    "| Process | Most memory | Last third of a life ÷ its second third | Most open files | Last third ÷ second third |",
    "| --- | --- | --- | --- | --- |",
    ...flat,
  ].join("\n");
  return { text, lost };
}

function plotted() {
  const line = (name, what) => samples[name].map((sample) => [sample.at, sample[what]]);
  const perProcess = (what) => Object.fromEntries(processes.map(({ name }) => [name, line(name, what)]));
  return {
    title: `Soak: ${values.minutes} minutes, ${load.expected.size} events, ${kills.length} kills (red)`,
    seconds: elapsed(),
    panels: [
      { title: "Memory", unit: "MB", lines: perProcess("memory") },
      { title: "Open files", unit: "", lines: perProcess("files") },
      { title: "Deliveries that wait", unit: "", lines: { queue: line("queue", "depth") } },
    ],
    kills,
  };
}

function pick(list) {
  return list[Math.floor(random() * list.length)];
}

/** Numbers in [0, 1) that are the same for the same seed (mulberry32). */
function seededRandom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
