import { InvalidArgumentError } from "commander";
import { SECONDS_PER_UNIT } from "../../arguments/times.ts";
import { SECRET_VARIABLE } from "../webhooks/secrets.ts";
import { isId } from "../../../contract/ids.ts";

/** What the platform is asked for: an event id, `now` or `-<seconds>`; `last` is for the caller to look up. */
export function parseSince(text: string): string {
  if (text === "now" || text === "last" || isId("event", text)) return text;
  const [, count, unit] = /^(\d{1,6})([smhdw])$/.exec(text) ?? [];
  if (count !== undefined && unit !== undefined) return `-${Number(count) * SECONDS_PER_UNIT[unit]!}`;
  throw new InvalidArgumentError("Must be now, last, an age such as 30s, 10m, 2h or 3d, or an event ID.");
}

const TIMEOUT_UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 };

/** The limit of one forward, in milliseconds. */
export function parseTimeout(text: string): number {
  const [, count, unit] = /^(\d{1,6})(ms|s|m)$/.exec(text) ?? [];
  const milliseconds = Number(count) * (TIMEOUT_UNITS[unit ?? ""] ?? Number.NaN);
  if (milliseconds >= 1 && milliseconds <= 600_000) return milliseconds;
  throw new InvalidArgumentError("Must be a duration such as 500ms, 10s or 1m, up to 10m.");
}

/** How fast a recording is sent again: 1 is its own time, `max` without any wait. */
export function parseSpeed(text: string): number {
  if (text === "max") return Infinity;
  const speed = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && speed > 0 && speed <= 1000) return speed;
  throw new InvalidArgumentError("Must be max or a factor above 0, such as 1 (original speed) or 10.");
}

/** A file to write. */
export function parseFile(text: string): string {
  if (text === "") throw new InvalidArgumentError("Must be a file name. Is the shell variable set?");
  return text;
}

/** A file to put the secret into, and the variable that it gets there. */
export interface EnvTarget {
  file: string;
  name: string;
}

/** `FILE` or `FILE:NAME`. */
export function parseEnvTarget(text: string): EnvTarget {
  const [, file, name] = /^(.+):([A-Za-z_]\w*)$/s.exec(text) ?? [];
  if (file !== undefined && name !== undefined) return { file, name };
  if (text === "") throw new InvalidArgumentError("Must be a file such as .env, or .env:WEBHOOK_SECRET.");
  return { file: text, name: SECRET_VARIABLE };
}
