import { type Static, Type } from "typebox";
import { LIMITS } from "../limits.ts";
import { closed, nullable, Timestamp } from "./fields.ts";

/**
 * The clock of the sandbox: `now` is real time plus `offset_seconds`. The fields after `status` describe the last
 * advance.
 */
export const TestClock = Type.Object(
  {
    object: Type.Literal("test_clock"),
    now: Timestamp,
    offset_seconds: Type.Integer({ description: "Offset from real time, in seconds" }),
    reset_at: nullable(
      Type.String({
        format: "timestamp",
        description: "When the sandbox was last reset or restored, in real time; null if it never was",
      }),
    ),
    status: Type.Union([Type.Literal("idle"), Type.Literal("advancing"), Type.Literal("canceled")], {
      description: "`canceled`: the last advance was stopped before its target",
    }),
    target: nullable(Timestamp),
    attempts: Type.Integer({ minimum: 0, description: "Attempts made by the last advance" }),
    succeeded: Type.Integer({ minimum: 0 }),
    failed: Type.Integer({ minimum: 0 }),
    remaining: Type.Integer({ minimum: 0, description: "Deliveries still due before the target" }),
  },
  { $id: "TestClock", description: "The sandbox's test clock" },
);
export type TestClock = Static<typeof TestClock>;

export const TestClockAdvance = closed(
  { seconds: Type.Integer({ minimum: 1, maximum: LIMITS.replaySeconds * 12 }) },
  { $id: "TestClockAdvance", description: "Duration to advance the clock by" },
);
export type TestClockAdvance = Static<typeof TestClockAdvance>;
