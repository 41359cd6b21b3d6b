import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { reconnectDelay } from "../../src/relay/connection.ts";

const FRACTION = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

describe("reconnectDelay", () => {
  const CEILINGS = [
    ["30 s", "sandbox.example.com", 30_000],
    ["5 s for a platform on this machine", "127.0.0.1", 5000],
    ["5 s for localhost", "localhost", 5000],
  ] as const;
  it.each(CEILINGS)("stays below a ceiling that doubles from 0.25 s to %s", (_, hostname, max) => {
    fc.assert(
      fc.property(fc.nat(2000), FRACTION, (failures, fraction) => {
        const delay = reconnectDelay(failures, hostname, () => fraction);
        expect(delay).toBeGreaterThanOrEqual(0);
        expect(delay).toBeLessThanOrEqual(Math.min(max, 250 * 2 ** failures));
      }),
    );
  });

  it("uses the whole range (full jitter)", () => {
    fc.assert(
      fc.property(fc.nat(40), (failures) => {
        const ceiling = Math.min(30_000, 250 * 2 ** failures);
        expect(reconnectDelay(failures, "sandbox.example.com", () => 0)).toBe(0);
        expect(reconnectDelay(failures, "sandbox.example.com", () => 0.999_999)).toBeGreaterThan(0.99 * ceiling);
      }),
    );
  });
});
