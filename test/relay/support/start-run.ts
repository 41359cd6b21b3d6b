import { onTestFinished } from "vitest";
import { Run, type RunOptions } from "../../../src/relay/run.ts";
import { FakeClock } from "./fake-clock.ts";
import type { FakePlatform } from "./fake-platform.ts";
import { Reports } from "./reports.ts";

/** Starts a run with a platform, and stops it when the test ends. */
export function startRun(platform: FakePlatform, options: Partial<RunOptions> = {}): { run: Run; reports: Reports } {
  const reports = new Reports();
  const run = new Run({
    baseUrl: platform.url,
    authorization: () => Promise.resolve("Bearer token"),
    report: reports.add,
    random: () => 0,
    ...options,
  });
  onTestFinished(async () => {
    platform.cut();
    const stopped = run.stop();
    // Forwards that a test left hanging must time out.
    if (options.clock instanceof FakeClock) options.clock.advance(20_000);
    await stopped;
  });
  run.start();
  return { run, reports };
}
