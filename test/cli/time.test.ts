import { describe, expect, it } from "vitest";
import { formatDuration, relativeTime } from "../../src/cli/terminal/time.ts";

describe("a duration for people", () => {
  it.each([
    [0, "0 ms"],
    [999.4, "999 ms"],
    [999.6, "1.0 s"],
    [59_940, "59.9 s"],
    [59_960, "1 min 0 s"],
    [119_600, "2 min 0 s"],
    [125_000, "2 min 5 s"],
  ])("of %d ms is %s", (milliseconds, expected) => {
    expect(formatDuration(milliseconds)).toBe(expected);
  });
});

describe("an age in a table", () => {
  it.each([
    [1, "just now"],
    [2, "2s ago"],
    [59, "59s ago"],
    [60, "1m ago"],
    [7199, "1h ago"],
    [86_400, "1d ago"],
    [400 * 86_400, "400d ago"],
    [-7200, "in 2h"],
  ])("of %d seconds is %s", (seconds, expected) => {
    const now = Date.parse("2026-11-01T00:00:00Z") + seconds * 1000;
    expect(relativeTime("2026-11-01T00:00:00Z", now, { isShort: true })).toBe(expected);
  });
});
