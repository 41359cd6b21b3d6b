import { type Static, Type } from "typebox";
import { LIMITS } from "../limits.ts";
import { closed, Timestamp } from "./fields.ts";

/** The sandbox's clock (decisions 3): `now` is real time plus `offset_seconds`. */
export const TestClock = Type.Object(
  {
    object: Type.Literal("test_clock"),
    now: Timestamp,
    offset_seconds: Type.Integer({ description: "How far the time lies ahead of the real one" }),
    attempted: Type.Optional(Type.Integer({ description: "Attempts that were made on the way" })),
    succeeded: Type.Optional(Type.Integer()),
    failed: Type.Optional(Type.Integer()),
  },
  { $id: "TestClock", description: "The sandbox's time" },
);
export type TestClock = Static<typeof TestClock>;

export const TestClockAdvance = closed(
  { seconds: Type.Integer({ minimum: 1, maximum: LIMITS.replaySeconds * 12 }) },
  { $id: "TestClockAdvance", description: "How far to move the time" },
);
export type TestClockAdvance = Static<typeof TestClockAdvance>;
