import type { TestClock } from "../../../contract/schemas/test-clock.ts";
import { cancelAdvance, showClock } from "../../domain/test-clock.ts";
import type { Clock } from "../../ports.ts";
import type { Transaction } from "../../storage/database.ts";
import type { Handlers } from "../operation.ts";

/** Advances test clocks, and attempts deliveries that become due. */
export interface ClockAdvancer {
  /** Starts an advance; `endsAt` is the environment's time. */
  begin(tx: Transaction, environment: number, seconds: number): Promise<{ number: number; endsAt: number }>;
  /** Returns the progress of an advance, within some seconds. */
  follow(environment: number, number: number): Promise<TestClock>;
}

export function testClockHandlers(clock: Clock, advancer: ClockAdvancer): Handlers<"test_clock"> {
  return {
    getTestClock: ({ caller }, queries) => showClock(queries, caller.tenant.environment, clock.now()),
    advanceTestClock: {
      begin: async ({ caller, body }, tx) => {
        const { number, endsAt } = await advancer.begin(tx, caller.tenant.environment, body.seconds);
        return { reference: number, createdAt: endsAt };
      },
      follow: async ({ caller }, number) => {
        const clock = await advancer.follow(caller.tenant.environment, number);
        return { isDone: clock.status !== "advancing", body: clock };
      },
    },
    cancelTestClock: {
      isolation: "read committed",
      write: ({ caller }, tx) => cancelAdvance(tx, caller.tenant.environment, clock.now),
    },
  };
}
