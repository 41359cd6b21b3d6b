import { expect, it } from "vitest";
import { browserName, dueTime, duration, pastTime, percent, relativeTime } from "../../src/dashboard/format.ts";

it("a share is 100% only if it is complete", () => {
  expect(percent(0, 0)).toBe("–");
  expect(percent(10, 10)).toBe("100%");
  expect(percent(99_999, 100_000)).toBe("99.9%");
  expect(percent(2, 3)).toBe("66.6%");
  expect(percent(0, 3)).toBe("0.0%");
});

it("a duration has its two largest units", () => {
  expect(duration(0)).toBe("0 s");
  expect(duration(45.4)).toBe("45 s");
  expect(duration(3_600)).toBe("1 h");
  expect(duration(2 * 86_400 + 3 * 3_600 + 59)).toBe("2 d 3 h");
  expect(duration(-5)).toBe("0 s");
});

it("an attempt is due, or overdue, once its time has come", () => {
  expect(dueTime(1_060_000, 1_000_000)).toBe("in 1 min");
  expect(dueTime(1_000_000, 1_000_400)).toBe("due now");
  expect(dueTime(1_000_000, 1_014_000)).toBe("due now");
  expect(dueTime(1_000_000, 1_090_000)).toBe("overdue 1 min 30 s");
  expect(relativeTime(1_000_000, 1_000_400)).toBe("now");
  expect(relativeTime(1_000_000, 1_005_000)).toBe("5 s ago");
});

it("a time from before the clock was set back is shown as a time, not as a future one", () => {
  const now = Date.UTC(2026, 2, 10, 12);
  expect(pastTime(now - 300_000, now)).toBe("5 min ago");
  expect(pastTime(now + 1000, now)).toBe("now");
  expect(pastTime(now + 1_500_000, now)).toMatch(/^\d\d:\d\d:\d\d$|^\d+ \w+/);
  expect(relativeTime(now + 1_500_000, now)).toBe("in 25 min");
});

it("a session is named after its browser and system", () => {
  const chrome = "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/128.0.0.0";
  const names = {
    [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${chrome} Safari/537.36 Edg/128.0.0.0`]: "Edge on Windows",
    [`Mozilla/5.0 (X11; Linux x86_64) ${chrome} Safari/537.36 OPR/113.0.0.0`]: "Opera on Linux",
    [`Mozilla/5.0 (Linux; Android 10; K) ${chrome} Mobile Safari/537.36`]: "Chrome on Android",
    [`Mozilla/5.0 (Linux; Android 10; K) ${chrome} Mobile Safari/537.36 EdgA/128.0.0.0`]: "Edge on Android",
    [`Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${chrome} Safari/537.36`]: "Chrome on ChromeOS",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.6 Safari/605.1.15":
      "Safari on macOS",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_6 like Mac OS X) AppleWebKit/605.1.15 Version/17.6 Mobile/15E148 Safari/604.1":
      "Safari on iPhone",
    "Mozilla/5.0 (Android 14; Mobile; rv:130.0) Gecko/130.0 Firefox/130.0": "Firefox on Android",
    "curl/8.9.1": "curl/8.9.1",
  };
  for (const [agent, name] of Object.entries(names)) expect(browserName(agent)).toBe(name);
  expect(browserName(null)).toBe("Unknown browser");
});
