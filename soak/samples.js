// What a soak run looks at while it runs: memory, open files and the queue of the platform and the listeners.
import { readdirSync, readFileSync } from "node:fs";

/** One look at a process: memory in MB and open files; undefined while it is between two lives. */
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

/** The number of deliveries that wait, from the platform's metrics. */
export async function queueDepth(baseUrl) {
  const text = await fetch(`${baseUrl}/metrics`, { signal: AbortSignal.timeout(5000) }).then(
    (reply) => reply.text(),
    () => "",
  );
  const found = /^service_deliveries_pending(?:\{[^}]*\})? (\d+)/m.exec(text);
  return found === null ? undefined : Number(found[1]);
}

/**
 * How much more a process held near the end of its lives than after their first third: the largest ratio of medians
 * over lives with enough samples. Growth that goes on shows here; a cache that fills once does not.
 */
export function growth(samples, what, leastSamples = 12) {
  const lives = groupByLife(samples);
  const ratios = [...lives.values()]
    .filter((life) => life.length >= leastSamples)
    .map((life) => {
      const third = Math.floor(life.length / 3);
      return middle(life.slice(2 * third), what) / middle(life.slice(third, 2 * third), what);
    });
  return ratios.length === 0 ? undefined : Math.max(...ratios);
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
