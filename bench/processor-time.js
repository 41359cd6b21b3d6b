// Whose processor time something takes, by kind of process. Only Linux tells, in /proc.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { cpus } from "node:os";

/** Linux counts in hundredths of a second. */
const TICK = 10;
/** One thread cannot do more than about this share of a core. */
const BUSY = 0.9;
const IDLE = 0.1;
const CORES = cpus().length;

function statOf(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1).split(" ").map(Number);
    return { parent: fields[1], own: (fields[11] + fields[12]) * TICK, ofEnded: (fields[13] + fields[14]) * TICK };
  } catch {
    return undefined;
  }
}

/** Milliseconds that a process has taken itself. */
const timeOf = (pid) => statOf(pid)?.own ?? 0;
/** Milliseconds that its children took that have ended. */
const timeOfEnded = (pid) => statOf(pid)?.ofEnded ?? 0;

/** Milliseconds that all processes below one have taken, those that have ended too. */
function timeBelow(pid) {
  const all = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => ({ pid: Number(name), ...statOf(name) }));
  const sum = (above) =>
    all
      .filter(({ parent }) => parent === above)
      .reduce((total, { pid: child, own, ofEnded }) => total + own + ofEnded + sum(child), 0);
  return sum(pid);
}

/** Milliseconds that all of the machine's cores have worked. */
function timeOfMachine() {
  const [, user, nice, system, , , irq, softirq] = readFileSync("/proc/stat", "utf8").split("\n", 1)[0].split(/ +/);
  return [user, nice, system, irq, softirq].reduce((total, ticks) => total + Number(ticks) * TICK, 0);
}

/**
 * Counts from now on. `threads` are the processes of one thread, by kind; `database` lies below a process; pgbench is
 * run by this one. The answer ends it: each kind's share of all cores and its milliseconds, and which is the limit;
 * undefined where nothing tells.
 */
export function countProcessorTime({ threads, database, pgbench = false }) {
  if (!existsSync("/proc/stat")) return () => undefined;
  const read = () => ({
    at: performance.now(),
    machine: timeOfMachine(),
    kinds: {
      PostgreSQL: [timeBelow(database)],
      ...(pgbench ? { pgbench: [timeOfEnded(process.pid)] } : {}),
      ...Object.fromEntries(Object.entries(threads).map(([kind, pids]) => [kind, pids.map(timeOf)])),
    },
  });
  const before = read();
  return () => {
    const after = read();
    const took = after.at - before.at;
    const kinds = Object.entries(after.kinds).map(([kind, times]) => {
      const taken = times.map((time, i) => time - before.kinds[kind][i]);
      const milliseconds = taken.reduce((sum, time) => sum + time, 0);
      const busiest = kind in threads ? Math.max(...taken) / took : 0;
      return { kind, milliseconds, share: milliseconds / took / CORES, busiest };
    });
    const machine = (after.machine - before.machine) / took / CORES;
    const other = Math.max(0, machine - kinds.reduce((sum, { share }) => sum + share, 0));
    return { kinds, other, idle: Math.max(0, 1 - machine) };
  };
}

/** In words: the shares of all cores, and what the limit is; `count` things were done. */
export function sharesInWords(counted, count) {
  if (counted === undefined) return "";
  const { kinds, other, idle } = counted;
  const percent = (share) => `${Math.round(share * 100)} %`;
  const each = kinds.map(
    ({ kind, share, milliseconds }) => `${kind} ${percent(share)} (${(milliseconds / count).toFixed(2)} ms each)`,
  );
  const rest = `other work ${percent(other)}, idle ${percent(idle)}`;
  return `of ${CORES} cores ${each.join(", ")}, ${rest}; limit: ${limitOf(counted)}`;
}

function limitOf({ kinds, other, idle }) {
  const full = kinds.find(({ busiest }) => busiest >= BUSY);
  if (full !== undefined) return `the one thread of ${full.kind}`;
  if (idle >= IDLE) return "turns and commits that are waited for";
  const most = kinds.reduce((a, b) => (a.share > b.share ? a : b));
  return other > most.share ? "other work on this machine" : `the cores, most of all ${most.kind}`;
}
