import { type Static, Type } from "typebox";
import {
  count,
  Created,
  formatted,
  integer,
  Livemode,
  named,
  nullable,
  nullInExamples,
  objectOf,
  parameters,
  several,
  text,
  timestamp,
} from "./fields.ts";
import { LIMITS } from "../limits.ts";

const SnapshotName = formatted(
  "snapshot-name",
  "Name of the snapshot, which identifies it: 1 to 64 letters, digits, dots, hyphens and underscores",
  { examples: ["two-customers"] },
);

export const Sandbox = named("Sandbox", "A sandbox that was started again", {
  object: objectOf("sandbox"),
  reset_at: timestamp("When the sandbox was started again, in real time"),
  snapshot: nullable(text("The snapshot that it was restored to; null if it is empty")),
  livemode: Livemode,
});
export type Sandbox = Static<typeof Sandbox>;

export const SandboxReset = parameters("SandboxReset", "What the sandbox keeps besides credentials", {
  endpoints: Type.Optional(
    Type.Union([Type.Literal("keep"), Type.Literal("remove")], {
      default: "keep",
      description: "Whether the webhook endpoints stay, with their IDs and secrets",
    }),
  ),
});
export type SandboxReset = Static<typeof SandboxReset>;

export const Snapshot = named("Snapshot", "A saved copy of the sandbox: its objects, endpoints and time", {
  name: SnapshotName,
  object: objectOf("snapshot"),
  objects: count("Business objects, such as customers and orders", 2),
  offset_seconds: count("Offset of the sandbox's time from real time, in seconds"),
  created: Created,
  livemode: Livemode,
});
export type Snapshot = Static<typeof Snapshot>;

export const SnapshotCreate = parameters(
  "SnapshotCreate",
  "Name of the snapshot; an earlier one of the same name is replaced",
  { name: SnapshotName },
);
export type SnapshotCreate = Static<typeof SnapshotCreate>;

export const SnapshotList = named("SnapshotList", "All snapshots, newest first", {
  object: objectOf("list"),
  data: several(Snapshot, "The snapshots"),
});
export type SnapshotList = Static<typeof SnapshotList>;

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
