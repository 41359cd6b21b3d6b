const timeOfDay = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const dayAndTime = new Intl.DateTimeFormat(undefined, {
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
});
const fullDate = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

/** A time as people read it here: today by the clock alone, else with its day. */
export function localTime(iso: string, now: number): string {
  const date = new Date(iso);
  const isToday = date.toDateString() === new Date(now).toDateString();
  if (isToday) return timeOfDay.format(date);
  return date.getFullYear() === new Date(now).getFullYear() ? dayAndTime.format(date) : fullDate.format(date);
}

const UNITS = [
  ["d", 86_400],
  ["h", 3600],
  ["min", 60],
  ["s", 1],
] as const;

/** A stretch of time by its two largest units: `2 d 3 h`, `45 s`. */
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

export function percent(part: number, whole: number): string {
  if (whole === 0) return "–";
  // Cut, not rounded: one failure in ten thousand is not 100 %.
  const share = Math.floor((1000 * part) / whole) / 10;
  return `${share === 100 ? "100" : share.toFixed(1)} %`;
}

export function milliseconds(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  return value >= 10_000 ? `${(value / 1000).toFixed(1)} s` : `${integer.format(Math.round(value))} ms`;
}

/** An amount in the currency's minor unit, as people write it. */
export function money(amount: number, currency: string): string {
  try {
    const format = new Intl.NumberFormat(undefined, { style: "currency", currency, currencyDisplay: "code" });
    const digits = format.resolvedOptions().maximumFractionDigits ?? 2;
    return format.format(amount / 10 ** digits);
  } catch {
    return `${amount} ${currency}`;
  }
}

/** What a browser calls itself, short. */
export function browserName(userAgent: string | null): string {
  if (userAgent === null) return "Unknown browser";
  const browser = /(Firefox|Edg|OPR|Chrome|Safari)\/[\d.]+/.exec(userAgent)?.[1];
  const system = /(Windows|Mac OS X|Android|iPhone|iPad|Linux|CrOS)/.exec(userAgent)?.[1];
  const names: Record<string, string> = { Edg: "Edge", OPR: "Opera", "Mac OS X": "macOS", CrOS: "ChromeOS" };
  const shown = [browser, system].filter((name) => name !== undefined).map((name) => names[name] ?? name);
  return shown.length === 0 ? userAgent.slice(0, 60) : shown.join(" on ");
}
