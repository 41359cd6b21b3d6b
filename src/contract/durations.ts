/** The units of durations, in seconds. */
const SECONDS_PER_UNIT: Readonly<Record<string, number>> = {
  s: 1,
  m: 60,
  h: 3600,
  d: 86_400,
  w: 604_800,
};

/** Returns the seconds of a duration such as `90s`, `10m`, `2h`, `7d`; undefined for other text. */
export function secondsOf(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,9})([smhdw])$/.exec(text) ?? [];
  return count === undefined || unit === undefined ? undefined : Number(count) * SECONDS_PER_UNIT[unit]!;
}
