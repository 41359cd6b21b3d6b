import { onTestFinished } from "vitest";
import { Session, type SessionOptions } from "../../../src/relay/session.ts";
import { FakeClock } from "./fake-clock.ts";
import type { FakePlatform } from "./fake-platform.ts";
import { Reports } from "./reports.ts";

/** Starts a session with a platform, and stops it when the test ends. */
export function openSession(
  platform: FakePlatform,
  options: Partial<SessionOptions> = {},
): { session: Session; reports: Reports } {
  const reports = new Reports();
  const session = new Session({
    baseUrl: platform.url,
    authorization: () => Promise.resolve("Bearer token"),
    report: reports.add,
    random: () => 0,
    ...options,
  });
  onTestFinished(async () => {
    platform.cut();
    const stopped = session.stop();
    // Forwards that a test left hanging must time out.
    if (options.clock instanceof FakeClock) options.clock.advance(20_000);
    await stopped;
  });
  session.start();
  return { session, reports };
}
