// Measures the processor time of a task, by kind of process. Only on Linux, from /proc.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { cpus } from "node:os";

/** Linux counts in hundredths of a second. */
const TICK = 10;
/** Above this share of a core, a thread is the bottleneck. */
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

/** Returns the milliseconds of a process itself. */
export const timeOf = (pid) => statOf(pid)?.own ?? 0;
/** Returns the milliseconds of its exited children. */
const timeOfEnded = (pid) => statOf(pid)?.ofEnded ?? 0;

/** Returns the milliseconds of all processes below one, including those that have exited. */
export function timeBelow(pid) {
  const all = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => ({ pid: Number(name), ...statOf(name) }));
  const sum = (above) =>
    all
      .filter(({ parent }) => parent === above)
      .reduce((total, { pid: child, own, ofEnded }) => total + own + ofEnded + sum(child), 0);
  return sum(pid);
}

/** Returns the milliseconds that all cores of the machine have worked. */
function timeOfMachine() {
  const [, user, nice, system, , , irq, softirq] = readFileSync("/proc/stat", "utf8").split("\n", 1)[0].split(/ +/);
  return [user, nice, system, irq, softirq].reduce((total, ticks) => total + Number(ticks) * TICK, 0);
}

/**
 * Counts from now on. `threads` are the single-threaded processes, by kind; `database` is below a process; pgbench is a
 * child of this one. Call the returned function to stop: it returns each kind's share of all cores and its
 * milliseconds, and the bottleneck, or undefined on other systems.
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

/** Describes the shares of all cores, and the bottleneck; `count` is the number of operations. */
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
  const largest = kinds.reduce((a, b) => (a.share > b.share ? a : b));
  return other > largest.share ? "other work on this machine" : `the cores, most of all ${largest.kind}`;
}
