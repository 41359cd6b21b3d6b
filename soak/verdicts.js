// The verdicts of a soak run, each with its bound.
import { heldOver } from "./samples.js";

/** Maximum number of repeats that a kill may cause: a listener's window, or an endpoint's deliveries in flight and as many unrecorded ones. */
const REPEATED_PER_KILL = { listener: 64, endpoint: 40 };
/** Minimum share of the planned writes. A machine that makes fewer did not put the platform under load. */
const MIN_LOAD = 0.1;
/**
 * Maximum growth from the middle of a life to its end, as a ratio and, if that is less than noise, as an amount.
 * `memory` (resident) and `files` are read from outside; the rest is held after a garbage collection.
 */
const LIMITS = {
  memory: { label: "memory", unit: "MB", ratio: 1.15, noise: 16 },
  files: { label: "open files", unit: "files", ratio: 1.1, noise: 8 },
  heap: { label: "heap after collection", unit: "MB", ratio: 1.1, noise: 4 },
  timers: { label: "timers", unit: "timers", ratio: 1.2, noise: 60 },
  listeners: { label: "event listeners", unit: "listeners", ratio: 1.2, noise: 100 },
  // In its first minutes, each of 17 connections prepares each statement that it meets.
  statements: { label: "prepared statements", unit: "statements", ratio: 1.2, noise: 60, minSeconds: 600 },
  promises: { label: "promises", unit: "promises", ratio: 1.2, noise: 300 },
};
/** Younger processes are still warming up. */
const MIN_LIFE_SECONDS = 100;

/**
 * Judges a run. `receivers` by name, each as of receivers.js; `expected` are the keys of acknowledged events, `planned`
 * the number of requested writes; `processes` as of processes.js, with `samples` and `retained` objects of each by name;
 * `platforms` names those that run the platform; `kills` are `[seconds, name]`; `pending` is the depth of the queue at
 * the end; `violations` are sentences. Returns `{ what, bound, observed, isMet }` for each; `isMet` is undefined if it
 * cannot be judged.
 */
export function judge({
  receivers,
  expected,
  planned,
  processes,
  platforms,
  samples,
  retained,
  kills,
  pending,
  violations,
}) {
  const all = Object.entries(receivers);
  const each = (of) => all.map(([name, receiver]) => `${name} ${of(receiver)}`).join(", ");
  const none = (of) => all.every(([, receiver]) => of(receiver) === 0);
  const missing = ({ accepted }) => [...expected].filter((event) => !accepted.has(event)).length;
  const unknown = ({ accepted }) => [...accepted.keys()].filter((event) => !expected.has(event)).length;
  const repeated = ({ accepted }) => [...accepted.values()].reduce((sum, count) => sum + count - 1, 0);
  const mayRepeat = (name) => {
    const isListener = processes.some((process) => process.name === name);
    const struck = kills.filter(([, victim]) => platforms.includes(victim) || victim === name).length;
    return struck * REPEATED_PER_KILL[isListener ? "listener" : "endpoint"];
  };
  const rejected = (receiver) => receiver.rejected.length;
  const ordered = all.filter(([, { isOrdered }]) => isOrdered);
  const falls = processes.flatMap((process) => process.falls);
  const ends = processes.map(({ name, end }) => `${name} ${end}`).join(", ");
  return [
    {
      what: "Violated invariants of what the API lists",
      bound: "0",
      observed: violations.join("; ") || "0",
      isMet: violations.length === 0,
    },
    {
      what: "Acknowledged events that a receiver never verified",
      bound: "0",
      observed: each(missing),
      isMet: none(missing),
    },
    { what: "Verified events of no acknowledged write", bound: "0", observed: each(unknown), isMet: none(unknown) },
    { what: "Rejected signatures", bound: "0", observed: each(rejected), isMet: none(rejected) },
    {
      what: "Events verified again",
      bound: `what kills may repeat: ${all.map(([name]) => `${name} ${mayRepeat(name)}`).join(", ")}`,
      observed: each(repeated),
      isMet: all.every(([name, receiver]) => repeated(receiver) <= mayRepeat(name)),
    },
    {
      what: "Orders completed before they were created, as seen by ordered listeners",
      bound: "0",
      observed: ordered.map(([name, { inversions }]) => `${name} ${inversions()}`).join(", "),
      isMet: ordered.every(([, { inversions }]) => inversions() === 0),
    },
    {
      what: "Pending deliveries at the end",
      bound: "0",
      observed: String(pending),
      isMet: pending === 0,
    },
    {
      what: "Load: acknowledged events",
      bound: `≥ ${Math.ceil(MIN_LOAD * planned)}, a tenth of the planned writes`,
      observed: String(expected.size),
      isMet: expected.size > 0 && expected.size >= MIN_LOAD * planned,
    },
    { what: "Kills", bound: "≥ 1", observed: String(kills.length), isMet: kills.length > 0 },
    {
      what: "Processes that exited by themselves",
      bound: "0",
      observed: falls.join("; ") || "0",
      isMet: falls.length === 0,
    },
    {
      what: "Exit codes when stopped",
      bound: "0",
      observed: ends,
      isMet: processes.every(({ end }) => end === 0),
    },
    ...processes.flatMap(({ name }) =>
      Object.keys(LIMITS)
        .filter((measure) => measure !== "statements" || platforms.includes(name))
        .map((measure) => flat(name, measure, measure in (samples[name][0] ?? {}) ? samples[name] : retained[name])),
    ),
  ];
}

/** Returns whether a process held no more near the end of its longest life than in the middle of it. */
function flat(name, measure, samples) {
  const { label, unit, ratio, noise, minSeconds = MIN_LIFE_SECONDS } = LIMITS[measure];
  const verdict = {
    what: `${name}: ${label}, last third of its longest life ÷ the second`,
    bound: `≤ ${ratio.toFixed(2)}, or ${noise} ${unit} more`,
  };
  const found = heldOver(samples, measure, minSeconds);
  if (found === undefined) return { ...verdict, observed: `no life of ${minSeconds} s`, isMet: undefined };
  const { second, last, seconds } = found;
  return {
    ...verdict,
    observed: `${(last / (second || 1)).toFixed(2)}: ${Math.round(second)} to ${Math.round(last)} in ${Math.round(seconds)} s`,
    isMet: last <= second * ratio || last - second <= noise,
  };
}
