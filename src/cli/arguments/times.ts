import { InvalidArgumentError } from "commander";
import { formatTimestamp, parseTimestamp } from "../../contract/timestamps.ts";
import { formatSpan } from "../terminal/time.ts";

/** The units in which spans of time are written, in seconds. */
export const SECONDS_PER_UNIT: Readonly<Record<string, number>> = {
  s: 1,
  m: 60,
  h: 3600,
  d: 86_400,
  w: 604_800,
};

/** A span of time such as `30s`, `10m`, `2h`, `3d`, in seconds. The bounds are seconds too. */
export function duration(min: number, max: number): (text: string) => number {
  return (text) => {
    const [, count, unit] = /^(\d{1,9})([smhdw])$/.exec(text) ?? [];
    if (count === undefined || unit === undefined) {
      throw new InvalidArgumentError("Must be a duration such as 30s, 10m, 2h, 3d or 1w.");
    }
    const seconds = Number(count) * SECONDS_PER_UNIT[unit]!;
    if (seconds < min) throw new InvalidArgumentError(`Must be at min ${formatSpan(min)}.`);
    if (seconds > max) throw new InvalidArgumentError(`Must be at max ${formatSpan(max)}.`);
    return seconds;
  };
}

/** A point in time: `2026-11-01T12:00:00Z`, `2026-11-01`, or an age such as `90s`, `10m`, `2h`, `7d`. Gives the API's form. */
export function pointInTime(now: () => number): (text: string) => string {
  return (text) => {
    const [, count, unit] = /^(\d{1,9})([smhdw])$/.exec(text) ?? [];
    if (count !== undefined && unit !== undefined)
      return formatTimestamp(Math.max(0, now() - Number(count) * SECONDS_PER_UNIT[unit]! * 1000));
    const whole = /^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text;
    if (parseTimestamp(whole) === undefined) {
      throw new InvalidArgumentError(
        "Must be a time such as 2026-11-01T12:00:00Z or 2026-11-01, or an age such as 10m, 2h, 7d or 1w.",
      );
    }
    return whole;
  };
}
