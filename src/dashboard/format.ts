import { LIMITS } from "../contract/limits.ts";

/** Twenty-four hours in every language: columns of times line up, and match logs. */
const CLOCK = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;
const SECONDS = { ...CLOCK, second: "2-digit" } as const;
const timeOfDay = new Intl.DateTimeFormat(undefined, SECONDS);
const minuteOfDay = new Intl.DateTimeFormat(undefined, CLOCK);
const dayAndTime = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", ...CLOCK });
const dayAndSeconds = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", ...SECONDS });
const fullDate = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium", hourCycle: "h23" });
const shortDay = new Intl.DateTimeFormat(undefined, { weekday: "short", month: "short", day: "numeric" });

const DAY_SECONDS = 86_400;
/** An attempt that is due may take this long to begin and end. */
const OVERDUE_SECONDS = 15;

/** Returns a time within a day of now as a relative time (`5 min ago`), another one as a date. Unix milliseconds. */
export function relativeTime(at: number, now: number): string {
  const seconds = Math.round((at - now) / 1000);
  const distance = Math.abs(seconds);
  if (distance === 0) return "now";
  if (distance >= DAY_SECONDS) {
    const isThisYear = new Date(at).getFullYear() === new Date(now).getFullYear();
    return (isThisYear ? dayAndTime : fullDate).format(at);
  }
  const text = distance < 60 ? `${distance} s` : distance < 3600 ? `${Math.floor(distance / 60)} min` : hours(distance);
  return seconds > 0 ? `in ${text}` : `${text} ago`;
}

/**
 * Returns how long ago something was. A time in the future is from before the clock was set back, and is shown as a
 * time. Unix milliseconds.
 */
export function pastTime(at: number, now: number): string {
  if (at - now < 2000) return relativeTime(Math.min(at, now), now);
  return new Date(at).toDateString() === new Date(now).toDateString() ? timeOfDay.format(at) : dayAndTime.format(at);
}

function hours(seconds: number): string {
  return `${Math.floor(seconds / 3600)} h`;
}

/** Returns when something is due: `in 5 min`, `due now`, or for how long it has been. Unix milliseconds. */
export function dueTime(at: number, now: number): string {
  const seconds = Math.round((now - at) / 1000);
  if (seconds < 0) return relativeTime(at, now);
  return seconds < OVERDUE_SECONDS ? "due now" : `overdue ${duration(seconds)}`;
}

/**
 * Returns for how long an attempt has been in progress. An attempt that seems to last longer than one can is older only
 * on the sandbox's clock, which is being advanced. Unix milliseconds.
 */
export function progressTime(since: number, now: number): string {
  const seconds = Math.round((now - since) / 1000);
  return seconds < 1 || seconds > LIMITS.deliverySeconds + 1 ? "in progress" : `in progress for ${duration(seconds)}`;
}

/** Returns a time in full, local and in UTC, for a tooltip. */
export function exactTime(iso: string): string {
  return `${fullDate.format(new Date(iso))} (${iso.replace("T", " ").replace("Z", "")} UTC)`;
}

/** Returns a time in local time, as ISO 8601 without a zone: `2026-11-01T13:00:00`. Empty for text that is not a time. */
export function localIso(iso: string): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return "";
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

/**
 * Returns whether a time needs no date: it is on the day of `now`, which is that of real time as well. A sandbox's clock
 * may be days ahead. Unix milliseconds.
 */
function isToday(at: number | Date, now: number): boolean {
  const day = new Date(at).toDateString();
  return day === new Date(now).toDateString() && day === new Date().toDateString();
}

/** Returns the local time of day if that is today, else the date with it. */
export function localTime(iso: string, now: number): string {
  const date = new Date(iso);
  const isThisYear = date.getFullYear() === new Date().getFullYear();
  return (isToday(date, now) ? timeOfDay : isThisYear ? dayAndSeconds : fullDate).format(date);
}

/** Returns the hours and minutes of a time, with its day unless it is today. Unix milliseconds. */
export function shortTime(at: number, now: number): string {
  return (isToday(at, now) ? minuteOfDay : dayAndTime).format(at);
}

/** Returns the label of a time on an axis: of one longer than a day, the day. Unix milliseconds. */
export function axisTime(at: number, isLong: boolean): string {
  return (isLong ? shortDay : minuteOfDay).format(at);
}

/** Returns the local time of day, with seconds. */
export function clockTime(iso: string): string {
  return timeOfDay.format(new Date(iso));
}

/** Returns the local day of a time, for a separator; empty for today. */
export function dayOf(iso: string, now: number): string {
  const date = new Date(iso);
  return isToday(date, now) ? "" : shortDay.format(date);
}

const weekdayAndTime = new Intl.DateTimeFormat(undefined, {
  weekday: "short",
  day: "numeric",
  month: "short",
  year: "numeric",
  ...SECONDS,
});

/** Returns a time in full, with its weekday. Unix milliseconds. */
export function dateAndTime(at: number): string {
  return weekdayAndTime.format(at);
}

const UNITS = [
  ["d", DAY_SECONDS],
  ["h", 3600],
  ["min", 60],
  ["s", 1],
] as const;

/** Returns a duration in its two largest units: `2 d 3 h`, `45 s`. */
export function duration(seconds: number): string {
  const parts: string[] = [];
  let rest = Math.max(0, Math.round(seconds));
  for (const [unit, size] of UNITS) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) parts.push(`${count} ${unit}`);
    if (parts.length === 2) break;
  }
  return parts.length === 0 ? "0 s" : parts.join(" ");
}

const integer = new Intl.NumberFormat();

export function count(value: number): string {
  return integer.format(value);
}

/** Returns a number with its noun: `1 delivery`, `2 deliveries`. */
export function counted(value: number, singular: string, plural = `${singular}s`): string {
  return `${count(value)} ${value === 1 ? singular : plural}`;
}

/** Returns text for comparison in a search: formatted numbers have spaces that nobody types. */
export function searchable(text: string): string {
  return text.toLowerCase().replaceAll(/[^\S\n]+/g, " ");
}

export function percent(part: number, whole: number): string {
  if (whole === 0) return "–";
  // Rounded down: with one failure in ten thousand it is not 100%.
  const share = Math.floor((1000 * part) / whole) / 10;
  return `${share === 100 ? "100" : share.toFixed(1)}%`;
}

export function milliseconds(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  return value >= 1000 ? `${(value / 1000).toFixed(1)} s` : `${Math.round(value)} ms`;
}

/** Returns a percentile of response times: the platform knows a narrow range. */
export function about(percentile: number | null): string {
  return percentile === null ? "–" : `about ${milliseconds(percentile)}`;
}

/** Returns an amount, given in the currency's minor unit, in its major unit. */
export function money(amount: number, currency: string): string {
  try {
    const format = new Intl.NumberFormat(undefined, { style: "currency", currency, currencyDisplay: "code" });
    return format.format(amount / 10 ** minorDigits(currency));
  } catch {
    return `${amount} ${currency}`;
  }
}

/** Returns how many decimal places a currency has. Throws for text that cannot be a currency. */
export function minorDigits(currency: string): number {
  const format = new Intl.NumberFormat(undefined, { style: "currency", currency });
  return format.resolvedOptions().maximumFractionDigits ?? 2;
}

/** Returns an amount as a user types it: `19.99` for 1999 in EUR. */
export function typedAmount(amount: number, currency: string): string {
  return (amount / 10 ** minorDigits(currency)).toFixed(minorDigits(currency));
}

/** Returns the minor units of an amount that a user typed, such as `19.99`; undefined if it is none of the currency. */
export function minorUnits(text: string, currency: string): number | undefined {
  const [, whole, fraction = ""] = /^(\d+)(?:[.,](\d+))?$/.exec(text.trim()) ?? [];
  if (whole === undefined || !/^[A-Z]{3}$/.test(currency)) return undefined;
  const digits = minorDigits(currency);
  return fraction.length > digits ? undefined : Number(whole + fraction.padEnd(digits, "0"));
}

/**
 * Names by a part of the user agent, the most specific first: Edge and Opera contain Chrome's, and Chrome contains
 * Safari's.
 */
const BROWSERS = [
  ["Edge", "Edg"],
  ["Opera", "OPR/"],
  ["Firefox", "Firefox/"],
  ["Chrome", "Chrome/"],
  ["Safari", "Safari/"],
] as const;
const SYSTEMS = [
  ["Windows", "Windows"],
  ["Android", "Android"],
  ["iPhone", "iPhone"],
  ["iPad", "iPad"],
  ["macOS", "Mac OS X"],
  ["ChromeOS", "CrOS"],
  ["Linux", "Linux"],
] as const;

/** Returns a short name for a browser and its system. */
export function browserName(userAgent: string | null): string {
  if (userAgent === null) return "Unknown browser";
  const shown = [BROWSERS, SYSTEMS].flatMap((known) => known.find(([, mark]) => userAgent.includes(mark))?.[0] ?? []);
  return shown.length === 0 ? userAgent.slice(0, 60) : shown.join(" on ");
}
