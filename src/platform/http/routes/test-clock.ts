import { TestClock, TestClockAdvance } from "../../../contract/schemas/test-clock.ts";
import { formatTimestamp } from "../../../contract/timestamps.ts";
import type { Services } from "../../services.ts";
import { findEnvironment } from "../../storage/environments.ts";
import { longOperation, type Operation, readOperation } from "../operation.ts";

/** Moves a sandbox's time by so many seconds, and attempts on the way what falls due. */
export type AdvanceClock = (environment: number, seconds: number) => Promise<TestClock>;

export function testClockOperations({ clock }: Services, advance: AdvanceClock): Operation[] {
  return [
    readOperation({
      name: "getTestClock",
      summary: "Retrieve the sandbox's test clock",
      method: "GET",
      path: "/v1/test_clock",
      scope: "deliveries:read",
      sandboxOnly: true,
      reply: { status: 200, schema: TestClock },
      read: async ({ caller }, queries): Promise<TestClock> => {
        const { clock_offset: offset } = await findEnvironment(queries, caller.tenant.environment);
        return {
          object: "test_clock",
          now: formatTimestamp(clock.now() + offset),
          offset_seconds: Math.floor(offset / 1000),
        };
      },
    }),
    longOperation({
      name: "advanceTestClock",
      summary: "Move the sandbox's time, making every attempt that falls due on the way",
      method: "POST",
      path: "/v1/test_clock/advance",
      scope: "deliveries:write",
      sandboxOnly: true,
      body: TestClockAdvance,
      refusals: ["test_clock_advancing"],
      reply: { status: 200, schema: TestClock },
      run: ({ caller, body }) => advance(caller.tenant.environment, body.seconds),
    }),
  ];
}
