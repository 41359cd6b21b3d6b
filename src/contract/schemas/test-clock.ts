import { type Static, Type } from "typebox";
import { LIMITS } from "../limits.ts";
import { count, integer, named, nullInExamples, objectOf, parameters, timestamp } from "./fields.ts";

/**
 * The clock of the sandbox: `now` is real time plus `offset_seconds`. The fields after `status` describe the last
 * advance.
 */
export const TestClock = named("TestClock", "The sandbox's test clock", {
  object: objectOf("test_clock"),
  now: timestamp("The sandbox's time"),
  offset_seconds: integer("Offset from real time, in seconds"),
  reset_at: nullInExamples(
    timestamp("When the sandbox was last reset or restored, in real time; null if it never was"),
  ),
  status: Type.Union([Type.Literal("idle"), Type.Literal("advancing"), Type.Literal("canceled")], {
    description: "`advancing` during an advance; `canceled`: the last one was stopped before its target",
  }),
  target: nullInExamples(timestamp("Where the last advance ends; null if there was none")),
  attempts: count("Attempts made by the last advance"),
  succeeded: count("Those that succeeded"),
  failed: count("Those that failed"),
  remaining: count("Deliveries still due before the target"),
});
export type TestClock = Static<typeof TestClock>;

export const TestClockAdvance = parameters("TestClockAdvance", "Duration to advance the clock by", {
  seconds: Type.Integer({
    minimum: 1,
    maximum: LIMITS.replaySeconds * 12,
    description: "Seconds from the sandbox's time",
    examples: [3600],
  }),
});
export type TestClockAdvance = Static<typeof TestClockAdvance>;
