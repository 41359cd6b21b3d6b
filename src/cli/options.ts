import { type Command, InvalidArgumentError, Option } from "commander";
import { formatTimestamp, parseTimestamp } from "../contract/timestamps.ts";
import { UsageError } from "./errors.ts";
import { formatSpan } from "./terminal/time.ts";

/** Types of values that several commands take. Each parser throws what commander turns into a usage error. */

/**
 * Refuses a second value for a flag that takes one: the first would be lost without a word. Flags that collect say so by
 * being variadic, or by a default that is a list.
 */
export function refuseRepeatedOptions(command: Command): void {
  for (const option of command.options) {
    if (option.variadic || option.isBoolean() || option.negate || Array.isArray(option.defaultValue)) continue;
    let given = 0;
    command.on(`option:${option.name()}`, () => {
      if (++given > 1) command.error(`error: option '${option.flags}' was given ${given} times; it takes one value`);
    });
  }
  for (const child of command.commands) refuseRepeatedOptions(child);
}

/** `key=value` pairs; the flag may be repeated, or take several in a row. */
export function pairsOption(flags: string, description: string): Option {
  return new Option(flags, description)
    .argParser((text: string, previous: Pair[]) => [...previous, parsePair(text)])
    .default([]);
}

export type Pair = readonly [key: string, value: string];

/** Splits at the first `=`: the value may hold more of them, and may be empty. */
export function parsePair(text: string): Pair {
  const at = text.indexOf("=");
  if (at < 1) throw new InvalidArgumentError(`"${text}" is not key=value.`);
  return [text.slice(0, at), text.slice(at + 1)];
}

/** Pairs as an object; a key that stands twice is a mistake. */
export function objectOfPairs(pairs: readonly Pair[], flag: string): Record<string, string> {
  const seen = new Set<string>();
  for (const [key] of pairs) {
    if (seen.has(key)) throw new UsageError(`${flag} names "${key}" twice`);
    seen.add(key);
  }
  return Object.fromEntries(pairs);
}

/** A whole number of at least `least`. */
export function wholeNumber(least: number, most = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (!/^[+-]?\d+$/.test(text) || !Number.isSafeInteger(number))
      throw new InvalidArgumentError("It is a whole number.");
    if (number < least) throw new InvalidArgumentError(`It is at least ${least}.`);
    if (number > most) throw new InvalidArgumentError(`It is at most ${most}.`);
    return number;
  };
}

/** The id of an object; what kind it is, the platform judges. */
export function objectId(text: string): string {
  if (!/^[A-Za-z0-9_-]+$/.test(text)) throw new InvalidArgumentError("It is an id, such as cus_4Vf8….");
  return text;
}

const AGE_UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** A span of time such as `30s`, `10m`, `2h`, `3d`, in seconds. The bounds are seconds too. */
export function duration(least: number, most: number): (text: string) => number {
  return (text) => {
    const [, count, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
    if (count === undefined || unit === undefined) {
      throw new InvalidArgumentError("It is a duration such as 30s, 10m, 2h or 3d.");
    }
    const seconds = Number(count) * AGE_UNITS[unit]!;
    if (seconds < least) throw new InvalidArgumentError(`It is at least ${formatSpan(least)}.`);
    if (seconds > most) throw new InvalidArgumentError(`It is at most ${formatSpan(most)}.`);
    return seconds;
  };
}

/** A point in time: `2026-11-01T12:00:00Z`, `2026-11-01`, or an age such as `90s`, `10m`, `2h`, `7d`. Gives the API's form. */
export function pointInTime(now: () => number): (text: string) => string {
  return (text) => {
    const [, count, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
    if (count !== undefined && unit !== undefined)
      return formatTimestamp(Math.max(0, now() - Number(count) * AGE_UNITS[unit]! * 1000));
    const whole = /^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text;
    if (parseTimestamp(whole) === undefined) {
      throw new InvalidArgumentError(
        "It is a time such as 2026-11-01T12:00:00Z, 2026-11-01, or an age such as 10m, 2h, 7d.",
      );
    }
    return whole;
  };
}
