import { type Static, Type } from "typebox";
import { LIMITS } from "../limits.ts";
import { closed, nullable, NULL_IN_EXAMPLES, objectOf, timestamp } from "./fields.ts";

/**
 * The clock of the sandbox: `now` is real time plus `offset_seconds`. The fields after `status` describe the last
 * advance.
 */
export const TestClock = Type.Object(
  {
    object: objectOf("test_clock"),
    now: timestamp("The sandbox's time"),
    offset_seconds: Type.Integer({ description: "Offset from real time, in seconds" }),
    reset_at: nullable(
      Type.String({
        format: "timestamp",
        description: "When the sandbox was last reset or restored, in real time; null if it never was",
      }),
      NULL_IN_EXAMPLES,
    ),
    status: Type.Union([Type.Literal("idle"), Type.Literal("advancing"), Type.Literal("canceled")], {
      description: "`advancing` during an advance; `canceled`: the last one was stopped before its target",
    }),
    target: nullable(timestamp("Where the last advance ends; null if there was none"), NULL_IN_EXAMPLES),
    attempts: Type.Integer({ minimum: 0, description: "Attempts made by the last advance" }),
    succeeded: Type.Integer({ minimum: 0, description: "Those that succeeded" }),
    failed: Type.Integer({ minimum: 0, description: "Those that failed" }),
    remaining: Type.Integer({ minimum: 0, description: "Deliveries still due before the target" }),
  },
  { $id: "TestClock", description: "The sandbox's test clock" },
);
export type TestClock = Static<typeof TestClock>;

export const TestClockAdvance = closed(
  {
    seconds: Type.Integer({
      minimum: 1,
      maximum: LIMITS.replaySeconds * 12,
      description: "Seconds from the sandbox's time",
      examples: [3600],
    }),
  },
  { $id: "TestClockAdvance", description: "Duration to advance the clock by" },
);
export type TestClockAdvance = Static<typeof TestClockAdvance>;
