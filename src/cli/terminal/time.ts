const UNITS = [
  { seconds: 86_400, name: "day", one: "day", many: "days" },
  { seconds: 3600, name: "hour", one: "h", many: "h" },
  { seconds: 60, name: "minute", one: "min", many: "min" },
  { seconds: 1, name: "second", one: "s", many: "s" },
] as const;

/**
 * Returns how long ago or ahead a timestamp is, in its largest unit: `3 hours ago`, `in 2 days`; in a column of a table
 * `3h ago`, `in 2d`.
 */
export function relativeTime(timestamp: string, now: number, { isShort = false } = {}): string {
  const seconds = Math.round((now - Date.parse(timestamp)) / 1000);
  if (Number.isNaN(seconds)) return timestamp;
  const distance = Math.abs(seconds);
  const unit = UNITS.find((candidate) => distance >= candidate.seconds);
  if (unit === undefined || distance === 1) return "just now";
  // A new key that expires after 90 days does so in 89 days and some hours.
  const count = (seconds < 0 ? Math.round : Math.floor)(distance / unit.seconds);
  const amount = isShort ? `${count}${unit.name[0]}` : `${count} ${unit.name}${count === 1 ? "" : "s"}`;
  return seconds < 0 ? `in ${amount}` : `${amount} ago`;
}

/** Formats a duration of whole seconds in its two largest units: `31 s`, `1 min 2 s`, `5 h 58 min`, `3 days`. */
export function formatSpan(seconds: number): string {
  let rest = Math.round(seconds);
  const largest = UNITS.findIndex((unit) => rest >= unit.seconds);
  if (largest === -1) return "0 s";
  const parts = UNITS.slice(largest, largest + 2).flatMap(({ seconds: size, one, many }) => {
    const count = Math.floor(rest / size);
    rest -= count * size;
    return count === 0 ? [] : [`${count} ${count === 1 ? one : many}`];
  });
  return parts.join(" ");
}

/** Formats a duration: `42 ms`, `1.3 s`, `2 min 5 s`. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 999.5) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1000;
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)} min ${whole % 60} s`;
}
