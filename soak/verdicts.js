// What a soak run must have seen: each verdict with its bound, so that a result can be judged by whoever reads it.
import { heldOver } from "./samples.js";

/** What a kill may repeat: a listener's window, or an endpoint's deliveries in flight and as many not stored yet. */
const REPEATED_PER_KILL = { listener: 64, endpoint: 40 };
/** Of what the load was asked to make. A machine that makes less did not put the platform under load. */
const LEAST_LOAD = 0.1;
/** Near the end of a life against the middle of it; growth that goes on is more, noise is less. */
const MOST_GROWTH = { memory: 1.15, files: 1.1 };
/** Growth below this is noise, whatever the ratio: MB, and files. */
const NOISE = { memory: 16, files: 8 };
/** Younger processes still warm up. */
export const LEAST_LIFE_SECONDS = 100;

/**
 * Judges a run. `receivers` by name, each as of receivers.js; `expected` are the keys of acknowledged events, `planned`
 * how many the load was asked for; `processes` as of processes.js, with `samples` of each by name; `kills` are
 * `[seconds, name]`; `pending` is the depth of the queue at the end. Answers `{ what, bound, seen, isMet }` each; `isMet`
 * is undefined where it cannot be judged.
 */
export function judge({ receivers, expected, planned, processes, samples, kills, pending }) {
  const all = Object.entries(receivers);
  const each = (of) => all.map(([name, receiver]) => `${name} ${of(receiver)}`).join(", ");
  const none = (of) => all.every(([, receiver]) => of(receiver) === 0);
  const missing = ({ accepted }) => [...expected].filter((event) => !accepted.has(event)).length;
  const unknown = ({ accepted }) => [...accepted.keys()].filter((event) => !expected.has(event)).length;
  const repeated = ({ accepted }) => [...accepted.values()].reduce((sum, count) => sum + count - 1, 0);
  const mayRepeat = (name) => {
    const isListener = processes.some((process) => process.name === name);
    const struck = kills.filter(([, victim]) => victim === "platform" || victim === name).length;
    return struck * REPEATED_PER_KILL[isListener ? "listener" : "endpoint"];
  };
  const refused = (receiver) => receiver.refused.length;
  const ordered = all.filter(([, { isOrdered }]) => isOrdered);
  const falls = processes.flatMap((process) => process.falls);
  const ends = processes.map(({ name, end }) => `${name} ${end}`).join(", ");
  return [
    {
      what: "Acknowledged events that a receiver never verified",
      bound: "0",
      seen: each(missing),
      isMet: none(missing),
    },
    { what: "Verified events that nobody asked for", bound: "0", seen: each(unknown), isMet: none(unknown) },
    { what: "Refused signatures", bound: "0", seen: each(refused), isMet: none(refused) },
    {
      what: "Events verified again",
      bound: `what kills may repeat: ${all.map(([name]) => `${name} ${mayRepeat(name)}`).join(", ")}`,
      seen: each(repeated),
      isMet: all.every(([name, receiver]) => repeated(receiver) <= mayRepeat(name)),
    },
    {
      what: "Orders seen completed before they were seen created, by listeners that keep order",
      bound: "0",
      seen: ordered.map(([name, { inversions }]) => `${name} ${inversions()}`).join(", "),
      isMet: ordered.every(([, { inversions }]) => inversions() === 0),
    },
    {
      what: "Deliveries that wait at the end",
      bound: "0",
      seen: String(pending),
      isMet: pending === 0,
    },
    {
      what: "Load: acknowledged events",
      bound: `≥ ${Math.ceil(LEAST_LOAD * planned)}, a tenth of what was asked for`,
      seen: String(expected.size),
      isMet: expected.size > 0 && expected.size >= LEAST_LOAD * planned,
    },
    { what: "Kills", bound: "≥ 1", seen: String(kills.length), isMet: kills.length > 0 },
    {
      what: "Processes that ended by themselves",
      bound: "0",
      seen: falls.join("; ") || "0",
      isMet: falls.length === 0,
    },
    {
      what: "Exit codes when they were asked to end",
      bound: "0",
      seen: ends,
      isMet: processes.every(({ end }) => end === 0),
    },
    ...processes.flatMap(({ name }) => [flat(name, "memory", samples[name]), flat(name, "files", samples[name])]),
  ];
}

/** Whether a process held no more near the end of its longest life than in the middle of it. */
function flat(name, what, samples) {
  const most = MOST_GROWTH[what];
  const verdict = {
    what: `${name}: ${what === "memory" ? "memory" : "open files"}, last third of its longest life ÷ the second`,
    bound: `≤ ${most.toFixed(2)}, or ${NOISE[what]} ${what === "memory" ? "MB" : "files"} more`,
  };
  const held = heldOver(samples, what, LEAST_LIFE_SECONDS);
  if (held === undefined) return { ...verdict, seen: `no life of ${LEAST_LIFE_SECONDS} s`, isMet: undefined };
  const { second, last, seconds } = held;
  return {
    ...verdict,
    seen: `${(last / second).toFixed(2)}: ${Math.round(second)} to ${Math.round(last)} in ${Math.round(seconds)} s`,
    isMet: last <= second * most || last - second <= NOISE[what],
  };
}
