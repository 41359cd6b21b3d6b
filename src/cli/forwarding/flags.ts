import { InvalidArgumentError } from "commander";

const TIMEOUT_UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 };

/** The timeout of one forward, in milliseconds. */
export function parseTimeout(text: string): number {
  const [, count, unit] = /^(\d{1,6})(ms|s|m)$/.exec(text) ?? [];
  const milliseconds = Number(count) * (TIMEOUT_UNITS[unit ?? ""] ?? Number.NaN);
  if (milliseconds >= 1 && milliseconds <= 600_000) return milliseconds;
  throw new InvalidArgumentError("Must be a duration such as 500ms, 10s or 1m, up to 10m.");
}

/** The speed of a replayed recording: 1 is the original timing, `max` without pauses. */
export function parseSpeed(text: string): number {
  if (text === "max") return Infinity;
  const speed = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && speed > 0 && speed <= 1000) return speed;
  throw new InvalidArgumentError("Must be max or a factor above 0, such as 1 (original speed) or 10.");
}

/** Parses the path of a file to write. */
export function parseFile(text: string): string {
  if (text === "") throw new InvalidArgumentError("Must be a file name. Is the shell variable set?");
  return text;
}
