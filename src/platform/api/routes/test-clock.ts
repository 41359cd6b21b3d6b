import type { TestClock } from "../../../contract/schemas/test-clock.ts";
import { cancelAdvance, showClock } from "../../domain/test-clock.ts";
import type { Clock } from "../../ports.ts";
import type { Transaction } from "../../storage/database.ts";
import type { Handlers } from "../operation.ts";

/** Advances test clocks, and attempts deliveries that become due. */
export interface ClockAdvancer {
  /** Starts an advance; `endsAt` is the environment's time. */
  begin(tx: Transaction, environment: number, seconds: number): Promise<{ number: number; endsAt: number }>;
  /** Returns the progress of an advance once it is over, or after this time. */
  follow(environment: number, number: number, milliseconds: number): Promise<TestClock>;
}

/** How long a request waits for its advance before the response reports the progress. */
const SHORT_SECONDS = 5;

export function testClockHandlers(
  clock: Clock,
  advancer: ClockAdvancer,
  requestSeconds: number,
): Handlers<"test_clock"> {
  const waitMilliseconds = Math.min(SHORT_SECONDS, requestSeconds / 2) * 1000;
  return {
    getTestClock: ({ caller }, queries) => showClock(queries, caller.tenant.environment, clock.now()),
    advanceTestClock: {
      begin: async ({ caller, body }, tx) => {
        const { number, endsAt } = await advancer.begin(tx, caller.tenant.environment, body.seconds);
        return { reference: number, createdAt: endsAt };
      },
      follow: async ({ caller }, number) => {
        const clock = await advancer.follow(caller.tenant.environment, number, waitMilliseconds);
        return { isDone: clock.status !== "advancing", body: clock };
      },
    },
    cancelTestClock: {
      isolation: "read committed",
      write: ({ caller }, tx) => cancelAdvance(tx, caller.tenant.environment, clock.now),
    },
  };
}
