// Samples during a soak run: memory, open files and the queue of the platform and the listeners.
import { readdirSync, readFileSync } from "node:fs";

/** Returns one sample of a process: memory in MB and open files; undefined between two lives. */
export function lookAt(process) {
  const pid = process.child?.pid;
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const kilobytes = Number(/^VmRSS:\s+(\d+)/m.exec(status)[1]);
    return { life: process.lives, memory: kilobytes / 1024, files: readdirSync(`/proc/${pid}/fd`).length };
  } catch {
    return undefined;
  }
}

/** Returns the number of waiting deliveries, from the platform's metrics. */
export async function queueDepth(baseUrl) {
  const text = await fetch(`${baseUrl}/metrics`, { signal: AbortSignal.timeout(5000) }).then(
    (response) => response.text(),
    () => "",
  );
  const found = /^service_deliveries_pending(?:\{[^}]*\})? (\d+)/m.exec(text);
  return found === null ? undefined : Number(found[1]);
}

/**
 * Returns what a process held in the second and in the last third of its longest life, as medians, and the length of
 * that life; undefined if it was too short. Continuous growth shows here; a cache that fills once does not.
 */
export function heldOver(samples, what, minSeconds) {
  const lives = [...groupByLife(samples).values()].map((life) => ({ life, seconds: life.at(-1).at - life[0].at }));
  const { life, seconds } = lives.sort((a, b) => b.seconds - a.seconds)[0] ?? { seconds: 0 };
  if (seconds < minSeconds) return undefined;
  const third = Math.floor(life.length / 3);
  if (third === 0) return undefined;
  return { second: middle(life.slice(third, 2 * third), what), last: middle(life.slice(2 * third), what), seconds };
}

function groupByLife(samples) {
  const lives = new Map();
  for (const sample of samples) lives.set(sample.life, [...(lives.get(sample.life) ?? []), sample]);
  return lives;
}

function middle(samples, what) {
  const numbers = samples.map((sample) => sample[what]).sort((a, b) => a - b);
  return numbers[Math.floor(numbers.length / 2)];
}
