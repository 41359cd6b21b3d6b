// `service listen` and other relays, in one run, on loopback, each with a stand-in for its own server
// (peers-stand-in.js). `node bench/run.js peers`; the others are installed first (peer-relays.js).
import { spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { atLeast, atMost, none } from "./goals.js";
import { endWithUs, median, startNode, stop, temporaryFolder } from "./measure.js";
import { installPeers, relaysIn } from "./peer-relays.js";

const BURST = 5_000;
const ROUNDS = 3;
const SINGLE = 400;
const DOWN_MS = 5_000;
const EVENTS_WHILE_DOWN = 100;
/** One of the peers waits 10 s before it reconnects. */
const PATIENCE_MS = 40_000;
const STARTS = 11;

/** Returns the next matching line; other kinds are skipped. */
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

async function openRelay(name, { command, env: own }) {
  const standIn = await startNode(["bench/peers-stand-in.js", name], { input: "pipe" });
  const receiver = await startNode(["bench/peers-receiver.js"], { input: "pipe" });
  const connected = nextLine(standIn, (line) => line.connected === true);
  const [program, ...args] = command(standIn.ready.url, receiver.ready.url);
  const home = temporaryFolder();
  const env = { PATH: process.env.PATH, HOME: home, ...own };
  const child = spawn(program, args, { env, stdio: "ignore", cwd: home });
  endWithUs(child);
  await Promise.race([connected, delay(PATIENCE_MS).then(() => Promise.reject(new Error(`${name} did not connect`)))]);
  // Some are connected a moment before they forward.
  await delay(1_000);
  return { standIn, receiver, child };
}

async function closeRelay({ standIn, receiver, child }) {
  child.kill("SIGKILL");
  await Promise.all([stop(standIn), stop(receiver)]);
}

/** Clears the receiver's record, and resolves once it has this many. */
async function arm(receiver, target) {
  const armed = nextLine(receiver, (line) => line.armed === true);
  order(receiver, { target });
  await armed;
}

/** Sends this many at once. Resolves with the receiver's record, once all have arrived or nothing more comes. */
async function burst({ standIn, receiver }, count) {
  await arm(receiver, count);
  const all = nextLine(receiver, (line) => line.notes !== undefined);
  const emitted = nextLine(standIn, (line) => line.emitted !== undefined);
  order(standIn, { emit: count });
  const { at } = await emitted;
  const patience = setTimeout(() => order(receiver, { report: true }), PATIENCE_MS);
  const { notes } = await all;
  clearTimeout(patience);
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

/** One event at a time, with the relays in turn, so that all are affected by the same disturbances. */
async function measureLatencies(opened, results) {
  const delays = Object.fromEntries(Object.keys(opened).map((name) => [name, []]));
  for (let i = 0; i < SINGLE; i++) {
    for (const [name, relay] of Object.entries(opened)) {
      const { at, notes } = await burst(relay, 1);
      delays[name].push(notes.length === 0 ? Infinity : (notes[0][2] - at) / 1000);
    }
  }
  for (const [name, measured] of Object.entries(delays)) {
    measured.sort((a, b) => a - b);
    results[name].p50 = measured[Math.floor(SINGLE / 2)];
    results[name].p99 = measured[Math.floor(SINGLE * 0.99)];
  }
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
  const notesLine = nextLine(receiver, (line) => line.notes !== undefined);
  order(receiver, { report: true });
  const { notes } = await notesLine;
  const came = new Set(notes.map(([, n]) => n).filter((n) => n >= begin));
  return EVENTS_WHILE_DOWN - came.size;
}

/** Returns the peak memory of a process in MiB. */
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

function measureStarts(relays, results) {
  const starts = Object.fromEntries(Object.keys(relays).map((name) => [name, []]));
  for (let i = 0; i < STARTS; i++) {
    for (const [name, { version, env }] of Object.entries(relays)) starts[name].push(startTime(version, env));
  }
  for (const [name, times] of Object.entries(starts)) results[name].start = median(times);
}

/** What is compared. Higher is better if `more` is set. */
const COMPARED = [
  { name: `events/s, burst of ${BURST} of 1 KiB`, of: ({ rates }) => median(rates), more: true },
  { name: "added latency, one at a time, median", of: ({ p50 }) => p50, unit: "ms", digits: 2 },
  { name: "added latency, one at a time, p99", of: ({ p99 }) => p99, unit: "ms", digits: 2 },
  { name: "most memory", of: ({ memory }) => memory, unit: "MiB" },
  { name: "start-up", of: ({ start }) => start, unit: "ms" },
  { name: `order inversions within an object, ${ROUNDS} bursts`, of: ({ inversions }) => inversions, isCount: true },
  { name: `events missing after ${ROUNDS} bursts`, of: ({ missing }) => missing, isCount: true },
  { name: `events lost of ${EVENTS_WHILE_DOWN} in a disconnect of 5 s`, of: ({ lost }) => lost, isCount: true },
];

/** The figure of `service`, beside each other's. The ratio is to the best of them, and a count must be zero. */
function rowsOf({ service, ...others }) {
  return COMPARED.map(({ name, of, more = false, unit = "", digits = 0, isCount = false }) => {
    const write = (value) => `${value.toFixed(digits)} ${unit}`.trim();
    const values = Object.values(others).map(of);
    const best = more ? Math.max(...values) : Math.min(...values);
    const compared = isCount ? { value: of(service), goal: none() } : { ratio: of(service) / best };
    return {
      name: `Beside other relays: ${name}`,
      figure: write(of(service)),
      baseline: Object.entries(others)
        .map(([other, result]) => `${other} ${write(of(result))}`)
        .join(", "),
      goal: more ? atLeast(1) : atMost(1),
      ...compared,
    };
  });
}

export async function benchPeers(say) {
  const { folder, problem } = await installPeers(say);
  const relays = relaysIn(folder);
  const names = Object.keys(relays);
  if (names.length < 2) {
    const why = problem ?? `${folder} has none of them for this machine`;
    say(`The other relays are left out: ${why}.`);
    return [{ name: "Beside other relays", figure: `left out: ${why}` }];
  }
  const opened = {};
  const results = {};
  for (const name of names) {
    opened[name] = await openRelay(name, relays[name]);
    await burst(opened[name], 200);
    results[name] = { rates: [], inversions: 0, missing: 0 };
  }
  await measureLatencies(opened, results);
  for (let round = 0; round < ROUNDS; round++) {
    for (const name of names) await measureBurst(opened[name], results[name]);
  }
  for (const name of names) {
    results[name].memory = peakMemory(opened[name]);
    results[name].lost = await lostInDisconnect(opened[name]);
    await closeRelay(opened[name]);
  }
  measureStarts(relays, results);
  return rowsOf(results);
}
