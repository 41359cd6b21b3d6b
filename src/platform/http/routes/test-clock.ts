import { TestClock, TestClockAdvance } from "../../../contract/schemas/test-clock.ts";
import { cancelAdvance, showClock } from "../../domain/test-clock.ts";
import type { Clock } from "../../ports.ts";
import type { Transaction } from "../../storage/database.ts";
import { longOperation, type Operation, readOperation, writeOperation } from "../operation.ts";

/** Advances test clocks, and attempts deliveries that become due. */
export interface ClockAdvancer {
  /** Starts an advance; `endsAt` is the environment's time. */
  begin(tx: Transaction, environment: number, seconds: number): Promise<{ number: number; endsAt: number }>;
  /** Returns the progress of an advance, within some seconds. */
  follow(environment: number, number: number): Promise<TestClock>;
}

export function testClockOperations(clock: Clock, advancer: ClockAdvancer): Operation[] {
  return [
    readOperation({
      name: "getTestClock",
      summary: "Retrieve the sandbox's test clock",
      method: "GET",
      path: "/v1/test_clock",
      scope: "deliveries:read",
      sandboxOnly: true,
      response: { status: 200, schema: TestClock },
      read: ({ caller }, queries) => showClock(queries, caller.tenant.environment, clock.now()),
    }),
    longOperation({
      name: "advanceTestClock",
      summary: "Advance the sandbox's time and attempt all deliveries that become due",
      method: "POST",
      path: "/v1/test_clock/advance",
      scope: "deliveries:write",
      sandboxOnly: true,
      body: TestClockAdvance,
      errors: ["test_clock_advancing"],
      response: { status: 200, schema: TestClock },
      accepted: "The advance is in progress: retrieve the clock until its `status` is no longer `advancing`.",
      begin: async ({ caller, body }, tx) => {
        const { number, endsAt } = await advancer.begin(tx, caller.tenant.environment, body.seconds);
        return { reference: number, createdAt: endsAt };
      },
      follow: async ({ caller }, number) => {
        const clock = await advancer.follow(caller.tenant.environment, number);
        return { isDone: clock.status !== "advancing", body: clock };
      },
    }),
    writeOperation({
      name: "cancelTestClock",
      summary: "Cancel an advance of the sandbox's time",
      method: "POST",
      path: "/v1/test_clock/cancel",
      scope: "deliveries:write",
      sandboxOnly: true,
      isolation: "read committed",
      response: { status: 200, schema: TestClock },
      write: ({ caller }, tx) => cancelAdvance(tx, caller.tenant.environment, clock.now),
    }),
  ];
}
