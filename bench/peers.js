// `node bench/peers.js FOLDER [name …]`: `service listen` beside other relays, in one run, on loopback, each behind a stand-in for
// its own server (peers-stand-in.js). FOLDER is where they were installed:
//   npm install --prefix FOLDER @stripe/cli@1.52.0 hookdeck-cli@2.6.0 smee-client@5.0.0
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { BIN, median, startNode, stop, temporaryFolder } from "./measure.js";

const BURST = 5_000;
const ROUNDS = 3;
const SINGLE = 400;
const DOWN_MS = 5_000;
const EVENTS_WHILE_DOWN = 100;
/** One of the peers waits 10 s before it dials again. */
const PATIENCE_MS = 40_000;
const STARTS = 11;

process.setMaxListeners(100);
const folder = process.argv[2];
if (folder === undefined) throw new Error("name the folder that the peers are installed in");
const modules = join(folder, "node_modules");
const stripeBinary = join(modules, "@stripe/cli-linux-x64/bin/stripe");
const hookdeckBinary = join(modules, "hookdeck-cli/binaries/linux-amd64/hookdeck");
const smeeScript = join(modules, "smee-client/bin/smee.js");

/** How each is started, as its own documentation says; `version` is what starts and ends at once. */
const RELAYS = {
  service: {
    command: (base, target) => [
      process.execPath,
      BIN,
      "listen",
      "--forward-to",
      target,
      "--ordered",
      "--concurrency",
      "32",
      "--base-url",
      base,
    ],
    version: [process.execPath, BIN, "--version"],
    env: { SERVICE_API_KEY: "bench", SERVICE_CONFIG_DIR: temporaryFolder() },
  },
  stripe: {
    command: (base, target) => [
      stripeBinary,
      "listen",
      "--api-key",
      "sk_test_bench12345678901234",
      "--api-base",
      base,
      "--no-wss",
      "--skip-update",
      "--all-snapshot",
      "--forward-to",
      target,
    ],
    version: [stripeBinary, "--version"],
    env: { STRIPE_CLI_TELEMETRY_OPTOUT: "1", DO_NOT_TRACK: "1" },
  },
  hookdeck: {
    command: (base, target) => [
      hookdeckBinary,
      "listen",
      target,
      "bench",
      "--api-base",
      base,
      "--ws-base",
      base.replace("http", "ws"),
      "--no-wss",
      "--cli-key",
      "benchbenchbenchbenchbench",
      "--no-healthcheck",
      "--output",
      "compact",
    ],
    version: [hookdeckBinary, "version"],
    env: {},
  },
  smee: {
    command: (base, target) => [process.execPath, smeeScript, "--url", base, "--target", target],
    version: [process.execPath, smeeScript, "--version"],
    env: {},
  },
};

/** The next line that fits; later ones of other kinds are left out. */
function nextLine({ lines }, fits) {
  return new Promise((resolve) => {
    const onLine = (text) => {
      const line = JSON.parse(text);
      if (!fits(line)) return;
      lines.off("line", onLine);
      resolve(line);
    };
    lines.on("line", onLine);
  });
}

const order = ({ child }, command) => child.stdin.write(`${JSON.stringify(command)}\n`);

async function openRelay(name) {
  const standIn = await startNode(["bench/peers-stand-in.js", name], { input: "pipe" });
  const receiver = await startNode(["bench/peers-receiver.js"], { input: "pipe" });
  const connected = nextLine(standIn, (line) => line.connected === true);
  const [program, ...args] = RELAYS[name].command(standIn.ready.url, receiver.ready.url);
  const home = mkdtempSync(join(tmpdir(), "service-peers-"));
  const env = { PATH: process.env.PATH, HOME: home, ...RELAYS[name].env };
  const child = spawn(program, args, { env, stdio: "ignore", cwd: home });
  process.once("exit", () => child.kill("SIGKILL"));
  await Promise.race([connected, delay(PATIENCE_MS).then(() => Promise.reject(new Error(`${name} did not connect`)))]);
  // Some are connected a moment before they forward.
  await delay(1_000);
  return { standIn, receiver, child };
}

async function closeRelay({ standIn, receiver, child }) {
  child.kill("SIGKILL");
  await Promise.all([stop(standIn), stop(receiver)]);
}

/** The receiver notes anew, and tells once so many have come. */
async function arm(receiver, target) {
  const armed = nextLine(receiver, (line) => line.armed === true);
  order(receiver, { target });
  await armed;
}

/** Sends so many at once; resolves with what the receiver noted, once all are there or nothing comes any more. */
async function burst({ standIn, receiver }, count) {
  await arm(receiver, count);
  const all = nextLine(receiver, (line) => line.notes !== undefined);
  const emitted = nextLine(standIn, (line) => line.emitted !== undefined);
  order(standIn, { emit: count });
  const { at } = await emitted;
  const late = delay(PATIENCE_MS).then(() => order(receiver, { report: true }));
  const { notes } = await Promise.race([all, late.then(() => all)]);
  return { at, notes };
}

function inversionsIn(notes) {
  const last = new Map();
  let inversions = 0;
  for (const [object, n] of notes) {
    if (n < (last.get(object) ?? 0)) inversions += 1;
    else last.set(object, n);
  }
  return inversions;
}

/** One event at a time, each relay in its turn: all of them meet the same disturbances of the machine. */
async function addedLatencies(relays) {
  const delays = Object.fromEntries(Object.keys(relays).map((name) => [name, []]));
  for (let i = 0; i < SINGLE; i++) {
    for (const [name, relay] of Object.entries(relays)) {
      const { at, notes } = await burst(relay, 1);
      delays[name].push(notes.length === 0 ? Infinity : (notes[0][2] - at) / 1000);
    }
  }
  return delays;
}

async function lostInDisconnect({ standIn, receiver }) {
  await arm(receiver, null);
  const first = nextLine(standIn, (line) => line.emitted !== undefined);
  order(standIn, { down: true });
  for (let i = 0; i < EVENTS_WHILE_DOWN; i++) {
    order(standIn, { emit: 1 });
    await delay(DOWN_MS / EVENTS_WHILE_DOWN);
  }
  const { emitted: begin } = await first;
  const back = nextLine(standIn, (line) => line.connected === true);
  order(standIn, { down: false });
  const isBack = await Promise.race([back.then(() => true), delay(PATIENCE_MS).then(() => false)]);
  if (!isBack) return EVENTS_WHILE_DOWN;
  await delay(2_000);
  const told = nextLine(receiver, (line) => line.notes !== undefined);
  order(receiver, { report: true });
  const { notes } = await told;
  const came = new Set(notes.map(([, n]) => n).filter((n) => n >= begin));
  return EVENTS_WHILE_DOWN - came.size;
}

/** The most memory that a process ever had, MiB. */
function peakMemory({ child }) {
  const [, kilobytes] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) / 1024;
}

function startTime([program, ...args], env) {
  const begin = performance.now();
  spawnSync(program, args, { stdio: "ignore", env: { PATH: process.env.PATH, HOME: tmpdir(), ...env } });
  return performance.now() - begin;
}

async function measureBurst(relay, result) {
  const { at, notes } = await burst(relay, BURST);
  result.rates.push(notes.length === 0 ? 0 : notes.length / ((notes.at(-1)[2] - at) / 1e6));
  result.inversions += inversionsIn(notes);
  result.missing += BURST - new Set(notes.map(([, n]) => n)).size;
}

const installed = { service: BIN, stripe: stripeBinary, hookdeck: hookdeckBinary, smee: smeeScript };
const chosen = process.argv.slice(3);
const names = Object.keys(RELAYS).filter(
  (name) => existsSync(installed[name]) && (chosen.length === 0 || chosen.includes(name)),
);
const relays = {};
const results = {};
for (const name of names) {
  relays[name] = await openRelay(name);
  await burst(relays[name], 200);
  results[name] = { rates: [], inversions: 0, missing: 0 };
}
process.stderr.write("one at a time …\n");
for (const [name, delays] of Object.entries(await addedLatencies(relays))) {
  delays.sort((a, b) => a - b);
  results[name].p50 = delays[Math.floor(SINGLE / 2)];
  results[name].p99 = delays[Math.floor(SINGLE * 0.99)];
}
for (let round = 0; round < ROUNDS; round++) {
  process.stderr.write(`burst ${round + 1} …\n`);
  for (const name of names) await measureBurst(relays[name], results[name]);
}
for (const name of names) {
  process.stderr.write(`${name} is disconnected …\n`);
  results[name].memory = peakMemory(relays[name]);
  results[name].lost = await lostInDisconnect(relays[name]);
  await closeRelay(relays[name]);
}
const starts = Object.fromEntries([...names, "node"].map((name) => [name, []]));
for (let i = 0; i < STARTS; i++) {
  for (const name of names) starts[name].push(startTime(RELAYS[name].version, RELAYS[name].env));
  starts.node.push(startTime([process.execPath, "-e", "0"], {}));
}
const bare = median(starts.node);
for (const name of names) results[name].start = median(starts[name]);

const ROWS = [
  [`Events/s, burst of ${BURST}, 1 KiB`, ({ rates }) => Math.round(median(rates))],
  ["Added latency, one at a time: median, ms", ({ p50 }) => p50.toFixed(2)],
  ["Added latency, one at a time: p99, ms", ({ p99 }) => p99.toFixed(2)],
  [`Order inversions within an object, ${ROUNDS} bursts`, ({ inversions }) => inversions],
  [`Events missing after ${ROUNDS} bursts`, ({ missing }) => missing],
  [`Events lost of ${EVENTS_WHILE_DOWN} in a disconnect of 5 s`, ({ lost }) => lost],
  ["Peak memory, MiB", ({ memory }) => Math.round(memory)],
  [`Start-up, ms (bare node ${bare.toFixed(0)})`, ({ start }) => start.toFixed(0)],
];
console.log(["| What |", ...names.map((name) => ` ${name} |`)].join(""));
console.log(`|---|${names.map(() => "---|").join("")}`);
for (const [label, figure] of ROWS) {
  console.log([`| ${String(label)} |`, ...names.map((name) => ` ${figure(results[name])} |`)].join(""));
}
process.exit(0);
