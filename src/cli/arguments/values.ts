import { InvalidArgumentError } from "commander";
import {
  EVENT_TYPES,
  type EventType,
  isEventType,
  matchesSubscriptions,
  SUBSCRIPTION_WILDCARDS,
  typesOfSubscription,
} from "../../contract/event-types.ts";
import { didYouMean, nearest } from "../../contract/nearest.ts";
import { isScope, type Scope, SCOPED_RESOURCES, scopeOfOAuthName, SCOPES } from "../../contract/scopes.ts";
import { secondsOf } from "../../contract/durations.ts";
import { parseTimestamp } from "../../contract/timestamps.ts";
import { UsageError } from "../errors.ts";
import { formatSpan } from "../terminal/time.ts";

/** Rejects an empty value, which an unset shell variable produces. */
export function notEmpty(text: string): string {
  if (text === "") throw new InvalidArgumentError("Must not be empty. Is the shell variable set?");
  return text;
}

export function parseFile(text: string): string {
  if (text === "") throw new InvalidArgumentError("Must be a file name. Is the shell variable set?");
  return text;
}

/** Says that it is the minor unit, since `12.50` is the likeliest mistake. */
export const AMOUNT_KIND = "a whole number of the currency's minor unit: 1999 for 19.99 EUR";

/** Parses a whole number of at least `min`. `kind` describes valid numbers in the error message. */
export function wholeNumber(
  min: number,
  max = Number.MAX_SAFE_INTEGER,
  kind = "a whole number",
): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (!/^[+-]?\d+$/.test(text) || !Number.isSafeInteger(number)) throw new InvalidArgumentError(`Must be ${kind}.`);
    if (number < min) throw new InvalidArgumentError(`Must be at least ${min}.`);
    if (number > max) throw new InvalidArgumentError(`Must be at most ${max}.`);
    return number;
  };
}

/** Parses a duration such as `30s`, `10m`, `2h`, `3d` to seconds. The bounds are seconds too. */
export function duration(min: number, max: number): (text: string) => number {
  return (text) => {
    const seconds = secondsOf(text);
    if (seconds === undefined) throw new InvalidArgumentError("Must be a duration such as 30s, 10m, 2h, 3d or 1w.");
    if (seconds < min) throw new InvalidArgumentError(`Must be at least ${formatSpan(min)}.`);
    if (seconds > max) throw new InvalidArgumentError(`Must be at most ${formatSpan(max)}.`);
    return seconds;
  };
}

const TIMEOUT_UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 };

/** Parses a timeout to milliseconds. A number without a unit is in seconds. */
export function parseTimeout(text: string): number {
  const [, count, unit = "s"] = /^(\d{1,6})(ms|s|m)?$/.exec(text) ?? [];
  const milliseconds = Number(count) * TIMEOUT_UNITS[unit]!;
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

/**
 * Parses a time: `2026-11-01T12:00:00Z`, `2026-11-01`, or an age such as `90s`, `10m`, `2h`, `7d`. Returns an age
 * unchanged, because it is relative to the environment's time, and a time in the API's format.
 */
export function pointInTime(text: string): string {
  if (secondsOf(text) !== undefined) return text;
  const whole = /^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text;
  if (parseTimestamp(whole) !== undefined) return whole;
  throw new InvalidArgumentError(
    "Must be a time such as 2026-11-01T12:00:00Z or 2026-11-01, or an age such as 10m, 2h, 7d or 1w.",
  );
}

/** Parses the ID of an object, or the URL of its page in the dashboard. The platform checks its kind. */
export function objectId(text: string): string {
  const id = /^https?:\/\/.*\/([a-z]+_\w+)(?:[?#].*)?$/.exec(text)?.[1] ?? text;
  if (!/^[A-Za-z0-9_-]+$/.test(id)) throw new InvalidArgumentError("Must be an ID such as cus_4Vf8….");
  return id;
}

/** Parses an event type. Throws UsageError with the nearest names if it does not exist. */
export function parseEventType(text: string): EventType {
  if (isEventType(text)) return text;
  const near = nearest(text, EVENT_TYPES);
  throw new UsageError(`Unknown event type "${text}"`, {
    hint: near.length > 0 ? didYouMean(near) : "To list them: service trigger --list",
  });
}

/**
 * Parses a flag's list of event types and wildcards: `order.*,customer.created`. With `!order.created` the type is left
 * out, and the rest is returned as single types.
 */
export function parseSubscriptions(text: string): string[] {
  const names = text.split(",").map((name) => name.trim());
  const excluded = names.filter((name) => name.startsWith("!")).map((name) => name.slice(1));
  const included = names.filter((name) => !name.startsWith("!"));
  assertSubscriptions([...included, ...excluded]);
  if (excluded.length === 0) return included;
  const selected = included.length === 0 ? ["*"] : included;
  const types = EVENT_TYPES.filter(
    (type) => matchesSubscriptions(selected, type) && !matchesSubscriptions(excluded, type),
  );
  if (types.length === 0) throw new InvalidArgumentError("No event type is left.");
  return types;
}

/** Returns event types and wildcards. Throws InvalidArgumentError with the nearest names if one does not exist. */
export function assertSubscriptions(subscriptions: string[]): string[] {
  const unknown = subscriptions.find((name) => typesOfSubscription(name).length === 0);
  if (unknown === undefined) return subscriptions;
  const near = nearest(unknown, [...EVENT_TYPES, ...SUBSCRIPTION_WILDCARDS]);
  throw new InvalidArgumentError(
    `"${unknown}" is not an event type. ${near.length === 0 ? "To list them: service trigger --list" : didYouMean(near)}`,
  );
}

/** Parses one value of a flag that collects scopes: `customers:read`, `read_customers`, or several with commas. */
export function scopeNames(text: string, previous: readonly Scope[] = []): Scope[] {
  const scopes = text
    .split(/[\s,+]+/)
    .filter((name) => name !== "")
    .map(scopeNamed);
  if (scopes.length === 0) throw new InvalidArgumentError("Must be one or more scopes, such as customers:read.");
  return [...new Set([...previous, ...scopes])];
}

function scopeNamed(name: string): Scope {
  const scope = isScope(name) ? name : scopeOfOAuthName(name);
  if (scope !== undefined) return scope;
  const [guess] = nearest(name, SCOPES);
  throw new InvalidArgumentError(
    `"${name}" is not a scope. ${guess === undefined ? `Add :read or :write to ${SCOPED_RESOURCES.join(", ")}, or pass listen:read` : `Did you mean ${guess}?`}`,
  );
}
