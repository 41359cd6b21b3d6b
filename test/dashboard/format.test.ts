import { expect, it } from "vitest";
import { duration, percent } from "../../src/dashboard/format.ts";

it("a share is 100 % only if it is complete", () => {
  expect(percent(0, 0)).toBe("–");
  expect(percent(10, 10)).toBe("100 %");
  expect(percent(99_999, 100_000)).toBe("99.9 %");
  expect(percent(2, 3)).toBe("66.6 %");
  expect(percent(0, 3)).toBe("0.0 %");
});

it("a duration has its two largest units", () => {
  expect(duration(0)).toBe("0 s");
  expect(duration(45.4)).toBe("45 s");
  expect(duration(3_600)).toBe("1 h");
  expect(duration(2 * 86_400 + 3 * 3_600 + 59)).toBe("2 d 3 h");
  expect(duration(-5)).toBe("0 s");
});
