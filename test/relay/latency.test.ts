import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LatencyHistogram } from "../../src/relay/report.ts";

describe("LatencyHistogram", () => {
  it("has no percentile before the first duration", () => {
    expect(new LatencyHistogram().percentile(0.5)).toBeUndefined();
  });

  it("is within 1 % of the exact percentile", () => {
    const durations = fc.array(fc.double({ min: 0.02, max: 60_000, noNaN: true }), { minLength: 1, maxLength: 300 });
    fc.assert(
      fc.property(durations, fc.constantFrom(0.01, 0.5, 0.9, 0.99, 1), (durations, fraction) => {
        const histogram = new LatencyHistogram();
        for (const duration of durations) histogram.add(duration);
        const exact = [...durations].sort((a, b) => a - b)[Math.ceil(fraction * durations.length) - 1]!;
        const measured = histogram.percentile(fraction)!;
        expect(Math.abs(measured - exact)).toBeLessThanOrEqual(0.0101 * exact);
      }),
    );
  });

  it("accepts zero and very long durations", () => {
    const histogram = new LatencyHistogram();
    histogram.add(0);
    histogram.add(1e12);
    expect(histogram.percentile(0.5)).toBeLessThan(0.02);
    expect(histogram.percentile(1)).toBeGreaterThan(3_600_000);
  });
});
