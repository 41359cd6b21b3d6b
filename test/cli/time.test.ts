import { describe, expect, it } from "vitest";
import { formatDuration } from "../../src/cli/terminal/time.ts";

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
