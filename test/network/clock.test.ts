import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { callAfter } from "../../src/network/clock.ts";

const DAY_MS = 86_400_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("a deadline can be longer than the maximum of Node.js timers", () => {
  const callback = vi.fn<() => void>();
  callAfter(60 * DAY_MS, callback);
  vi.advanceTimersByTime(60 * DAY_MS - 1);
  expect(callback).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(callback).toHaveBeenCalledOnce();
});

it("a deadline can be canceled in every part of a long wait", () => {
  const callback = vi.fn<() => void>();
  const cancel = callAfter(60 * DAY_MS, callback);
  vi.advanceTimersByTime(40 * DAY_MS);
  cancel();
  vi.advanceTimersByTime(40 * DAY_MS);
  expect(callback).not.toHaveBeenCalled();
});
