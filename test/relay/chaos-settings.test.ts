import { describe, expect, it } from "vitest";
import { ChaosSettingsError, formatChaosSettings, parseChaosSettings } from "../../src/relay/chaos-settings.ts";

const parse = (text: string) => parseChaosSettings(text, () => 42);

describe("chaos settings", () => {
  it("are unchanged after formatting and parsing", () => {
    const text = "duplicate=0.1, reorder=0.2,delay=0-3s,drop=.05,badsig=0.05,stale=1,burst=20,seed=7";
    const settings = parse(text);
    expect(settings).toEqual({
      duplicate: 0.1,
      reorder: 0.2,
      delay: { min: 0, max: 3_000 },
      drop: 0.05,
      badsig: 0.05,
      stale: 1,
      burst: 20,
      seed: 7,
    });
    expect(parse(formatChaosSettings(settings))).toEqual(settings);
  });

  it("get a seed if none is given", () => {
    expect(parse("drop=1")).toMatchObject({ drop: 1, duplicate: 0, delay: undefined, burst: undefined, seed: 42 });
    expect(formatChaosSettings(parse("drop=1"))).toBe("drop=1,seed=42");
  });

  it.each([
    ["delay=500ms", 500, 500],
    ["delay=2", 2_000, 2_000],
    ["delay=100ms-1s", 100, 1_000],
    ["delay=100-900ms", 100, 900],
    ["delay=0.5-1.5s", 500, 1_500],
  ])("parse %s", (text, min, max) => {
    expect(parse(text).delay).toEqual({ min, max });
  });

  it.each([
    ["", /unknown fault ""/],
    ["seed=1", /no fault given/],
    ["doubles=0.1", /unknown fault "doubles": use duplicate/],
    ["duplicate", /duplicate= is not a fraction/],
    ["duplicate=2", /not a fraction from 0 to 1/],
    ["duplicate=-0.1", /not a fraction/],
    ["drop=0.1,drop=0.2", /drop is repeated/],
    ["delay=3s-1s", /not a duration/],
    ["delay=2h", /not a duration/],
    ["delay=90s", /not a duration/],
    ["burst=1", /whole number from 2/],
    ["burst=9999", /whole number from 2 to 256/],
    ["drop=1,seed=x", /seed=x is not a whole number/],
  ])("reject %j", (text, reason) => {
    expect(() => parse(text)).toThrow(ChaosSettingsError);
    expect(() => parse(text)).toThrow(reason);
  });
});
