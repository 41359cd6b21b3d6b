// Rounds that alternate with their baseline, with the processor time of each process beside the rate.
import { existsSync } from "node:fs";
import { median } from "./measure.js";
import { timeOf } from "./processor-time.js";

/** Above this, a row says that the machine was too noisy for it. */
const NOISY = 0.15;

/**
 * Runs a task that resolves with the units it did a second. `processes` are the process IDs to watch, by name, or
 * functions that return milliseconds. Returns the rate and the microseconds of processor time that each process took
 * for a unit, none on systems without /proc.
 */
export async function measure(count, processes, task) {
  const names = existsSync("/proc/self/stat") ? Object.keys(processes) : [];
  const timeNow = (name) => (typeof processes[name] === "function" ? processes[name]() : timeOf(processes[name]));
  const before = names.map(timeNow);
  const rate = await task();
  const units = typeof count === "function" ? count(rate) : count;
  const times = names.map((name, index) => [name, ((timeNow(name) - before[index]) * 1000) / units]);
  return { rate, times: Object.fromEntries(times) };
}

/** Runs the baseline and what is measured in turn, once unmeasured first. Each returns what `measure` does. */
export async function alternate(count, { baseline, measured }) {
  await baseline();
  await measured();
  const rounds = [];
  for (let round = 0; round < count; round++) rounds.push({ baseline: await baseline(), measured: await measured() });
  return rounds;
}

/** Returns the row of the rates, with the processor time of both sides and the spread of the ratios. */
export function rowOf(rounds, { name, unit, baseline, goal }) {
  const ratios = rounds.map((round) => round.measured.rate / round.baseline.rate);
  return {
    name,
    figure: sideOf(rounds, "measured", unit),
    baseline: sideOf(rounds, "baseline", baseline),
    ...ratioOf(ratios),
    ...(Object.keys(rounds[0].measured.times).length === 0
      ? {}
      : { microseconds: median(rounds.map(({ measured }) => totalOf(measured))) }),
    goal,
  };
}

/** Returns the row of one process: its time for a unit against all that the baseline takes for one. */
export function timeRowOf(rounds, { name, process, goal }) {
  if (rounds.some(({ measured }) => measured.times[process] === undefined)) {
    return { name, figure: "no /proc on this system", goal };
  }
  const ratios = rounds.map(({ measured, baseline }) => measured.times[process] / totalOf(baseline));
  return {
    name,
    figure: `${Math.round(median(rounds.map(({ measured }) => measured.times[process])))} µs`,
    baseline: `${Math.round(median(rounds.map((round) => totalOf(round.baseline))))} µs`,
    ...ratioOf(ratios),
    goal,
  };
}

/** Returns the median, and the distance of the extremes as a share of it with a warning if that is much. */
export function ratioOf(ratios) {
  const spread = (Math.max(...ratios) - Math.min(...ratios)) / median(ratios);
  return { ratio: median(ratios), spread: `${Math.round(spread * 100)} %${spread > NOISY ? ", noisy" : ""}` };
}

function sideOf(rounds, side, unit) {
  const rate = Math.round(median(rounds.map((round) => round[side].rate)));
  const times = Object.keys(rounds[0][side].times).map(
    (name) => `${name} ${Math.round(median(rounds.map((round) => round[side].times[name])))} µs`,
  );
  return `${rate} ${unit}${times.length === 0 ? "" : `; ${times.join(", ")} each`}`;
}

function totalOf({ times }) {
  return Object.values(times).reduce((sum, time) => sum + time, 0);
}
