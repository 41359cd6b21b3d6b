// A test may replace the global timers: these are the ones from before.
const { setTimeout, clearTimeout } = globalThis;

/** Resolves after this many milliseconds of real time. */
export function delay(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
}

/** Calls back after this many milliseconds of real time. Returns a function that cancels it. */
export function after(milliseconds: number, act: () => void): () => void {
  const timer = setTimeout(act, milliseconds);
  return () => clearTimeout(timer);
}

const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** Returns the milliseconds of a duration such as `500ms`, `90s`, `2h`, `3d`. Throws TypeError for other text. */
export function millisecondsOf(duration: string): number {
  const [, count, unit] = /^(\d{1,9})(ms|[smhdw])$/.exec(duration) ?? [];
  if (unit !== undefined) return Number(count) * UNITS[unit]!;
  throw new TypeError(`${JSON.stringify(duration)} is not a duration such as 500ms, 30s, 2h or 3d`);
}
