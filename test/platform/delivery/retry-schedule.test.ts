import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readRetryAfter } from "../../../src/network/retry-after.ts";
import { nextAttemptAt } from "../../../src/platform/delivery/retry-schedule.ts";

const SECOND = 1000;
const HOUR = 3600 * SECOND;
const DAY = 24 * HOUR;

/** A generator of fractions that repeats for the same seed. */
function fractions(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Returns the attempt times of a delivery whose attempts all fail at once. */
function attemptsOf(seed: number, duration = 0): number[] {
  const fraction = fractions(seed);
  const times = [0];
  for (;;) {
    const failed = { attempts: times.length, firstAttempt: 0, endedAt: times.at(-1)! + duration };
    const next = nextAttemptAt(failed, fraction());
    if (next === undefined) return times;
    times.push(next);
  }
}

describe("the retry schedule", () => {
  it("keeps every wait of 3 days within its bounds, for 1,000 seeds", () => {
    for (let seed = 0; seed < 1000; seed++) {
      const times = attemptsOf(seed);
      for (let n = 1; n < times.length; n++) {
        const wait = times[n]! - times[n - 1]!;
        const base = Math.min(30 * SECOND * 2 ** (n - 1), 6 * HOUR);
        expect(wait).toBeGreaterThanOrEqual(Math.round(base * 0.8));
        expect(wait).toBeLessThanOrEqual(Math.min(Math.round(base * 1.2), 6 * HOUR));
      }
      expect(times.at(-1)).toBeLessThanOrEqual(3 * DAY);
      // Another attempt would be after the end.
      expect(times.at(-1)).toBeGreaterThan(3 * DAY - 6 * HOUR);
      expect(times.length).toBeGreaterThan(18);
    }
  });

  it("waits about 30 s first, then twice as long each time, up to 6 h", () => {
    const waits = Array.from({ length: 14 }, (_, n) =>
      nextAttemptAt({ attempts: n + 1, firstAttempt: 0, endedAt: 0 }, 0.5),
    );
    expect(waits.map((wait) => wait! / SECOND)).toEqual([
      30, 60, 120, 240, 480, 960, 1920, 3840, 7680, 15_360, 21_600, 21_600, 21_600, 21_600,
    ]);
  });

  it("spreads the first wait over 24 to 36 s", () => {
    const at = (fraction: number) => nextAttemptAt({ attempts: 1, firstAttempt: 0, endedAt: 0 }, fraction);
    expect(at(0)).toBe(24 * SECOND);
    expect(at(1 - 2 ** -53)).toBe(36 * SECOND);
  });

  it("keeps its properties for any attempt", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 2000 }),
        fc.integer({ min: 0, max: 3 * DAY }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        fc.option(fc.integer({ min: 0, max: 30 * DAY }), { nil: undefined }),
        (attempts, endedAt, fraction, retryAfter) => {
          const next = nextAttemptAt({ attempts, firstAttempt: 0, endedAt, retryAfter }, fraction);
          if (next === undefined) {
            expect(endedAt).toBeGreaterThan(3 * DAY - 6 * HOUR);
            return;
          }
          expect(next).toBeLessThanOrEqual(3 * DAY);
          expect(next - endedAt).toBeGreaterThanOrEqual(24 * SECOND);
          expect(next - endedAt).toBeLessThanOrEqual(6 * HOUR);
          if (retryAfter !== undefined) expect(next - endedAt).toBeGreaterThanOrEqual(Math.min(retryAfter, 6 * HOUR));
        },
      ),
    );
  });

  it("can be lengthened by the receiver up to 6 h, but never shortened", () => {
    const at = (retryAfter: number) => nextAttemptAt({ attempts: 1, firstAttempt: 0, endedAt: 0, retryAfter }, 0.5);
    expect(at(SECOND)).toBe(30 * SECOND);
    expect(at(90 * SECOND)).toBe(90 * SECOND);
    expect(at(DAY)).toBe(6 * HOUR);
  });

  it("makes the last possible attempt 3 days after the first", () => {
    const at = (endedAt: number) => nextAttemptAt({ attempts: 1, firstAttempt: 0, endedAt }, 0.5);
    expect(at(3 * DAY - 30 * SECOND)).toBe(3 * DAY);
    expect(at(3 * DAY - 30 * SECOND + 1)).toBeUndefined();
  });
});

describe("Retry-After", () => {
  const now = Date.UTC(2026, 10, 1, 12, 0, 0);

  it.each([
    ["whole seconds", "120", 120_000],
    ["zero", "0", 0],
    ["a date", "Sun, 01 Nov 2026 12:01:30 GMT", 90_000],
    ["a date in the old form", "Sunday, 01-Nov-26 12:01:30 GMT", 90_000],
    ["a date as C writes it", "Sun Nov  1 12:01:30 2026", 90_000],
    ["a date that has passed", "Sun, 01 Nov 2026 11:00:00 GMT", 0],
  ])("is parsed as %s", (_form, header, expected) => {
    expect(readRetryAfter(503, header, now)).toBe(expected);
    expect(readRetryAfter(429, header, now)).toBe(expected);
  });

  it.each(["", "soon", "-5", "1.5", "1e3", "2026-11-01T12:01:30Z", "Sun, 99 Foo 2026 12:01:30 GMT", "9".repeat(30)])(
    "ignores %j",
    (header) => expect(readRetryAfter(503, header, now)).toBeUndefined(),
  );

  it("is respected only for 429 and 503", () => {
    for (const status of [200, 301, 400, 404, 500, 502, 504])
      expect(readRetryAfter(status, "120", now)).toBeUndefined();
    expect(readRetryAfter(503, undefined, now)).toBeUndefined();
  });
});
