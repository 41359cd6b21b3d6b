import { describe, expect, it } from "vitest";
import { ChaosSettingsError, formatChaosSettings, parseChaosSettings } from "../../src/relay/chaos-settings.ts";

const parse = (text: string) => parseChaosSettings(text, () => 42);

describe("chaos settings", () => {
  it("are read as they were written, and can be given again", () => {
    const text = "duplicate=0.1, reorder=0.2,delay=0-3s,drop=.05,badsig=0.05,stale=1,burst=20,seed=7";
    const settings = parse(text);
    expect(settings).toEqual({
      duplicate: 0.1,
      reorder: 0.2,
      delay: { least: 0, most: 3_000 },
      drop: 0.05,
      badsig: 0.05,
      stale: 1,
      burst: 20,
      seed: 7,
    });
    expect(parse(formatChaosSettings(settings))).toEqual(settings);
  });

  it("get a seed where none is given", () => {
    expect(parse("drop=1")).toMatchObject({ drop: 1, duplicate: 0, delay: undefined, burst: undefined, seed: 42 });
    expect(formatChaosSettings(parse("drop=1"))).toBe("drop=1,seed=42");
  });

  it.each([
    ["delay=500ms", 500, 500],
    ["delay=2", 2_000, 2_000],
    ["delay=100ms-1s", 100, 1_000],
    ["delay=100-900ms", 100, 900],
    ["delay=0.5-1.5s", 500, 1_500],
  ])("take %s", (text, least, most) => {
    expect(parse(text).delay).toEqual({ least, most });
  });

  it.each([
    ["", /no fault/],
    ["seed=1", /no fault was given/],
    ["doubles=0.1", /"doubles" is no fault: there are duplicate/],
    ["duplicate", /duplicate= is no fraction/],
    ["duplicate=2", /no fraction from 0 to 1/],
    ["duplicate=-0.1", /no fraction/],
    ["drop=0.1,drop=0.2", /drop was given twice/],
    ["delay=3s-1s", /no span of time/],
    ["delay=2h", /no span of time/],
    ["delay=90s", /no span of time/],
    ["burst=1", /whole number from 2/],
    ["burst=9999", /whole number from 2 to 256/],
    ["drop=1,seed=x", /seed=x is no whole number/],
  ])("refuse %j", (text, reason) => {
    expect(() => parse(text)).toThrow(ChaosSettingsError);
    expect(() => parse(text)).toThrow(reason);
  });
});
