import { type Static, Type } from "typebox";
import { closed, Created, Livemode, nullable, objectOf, timestamp } from "./fields.ts";

const SnapshotName = Type.String({
  format: "snapshot-name",
  description: "Name of the snapshot, which identifies it: 1 to 64 letters, digits, dots, hyphens and underscores",
  examples: ["two-customers"],
});

export const Sandbox = Type.Object(
  {
    object: objectOf("sandbox"),
    reset_at: timestamp("When the sandbox was started again, in real time"),
    snapshot: nullable(Type.String({ description: "The snapshot that it was restored to; null if it is empty" })),
    livemode: Livemode,
  },
  { $id: "Sandbox", description: "A sandbox that was started again" },
);
export type Sandbox = Static<typeof Sandbox>;

export const SandboxReset = closed(
  {
    endpoints: Type.Optional(
      Type.Union([Type.Literal("keep"), Type.Literal("remove")], {
        default: "keep",
        description: "Whether the webhook endpoints stay, with their IDs and secrets",
      }),
    ),
  },
  { $id: "SandboxReset", description: "What the sandbox keeps besides credentials" },
);
export type SandboxReset = Static<typeof SandboxReset>;

export const Snapshot = Type.Object(
  {
    name: SnapshotName,
    object: objectOf("snapshot"),
    objects: Type.Integer({ minimum: 0, description: "Business objects, such as customers and orders", examples: [2] }),
    offset_seconds: Type.Integer({
      minimum: 0,
      description: "Offset of the sandbox's time from real time, in seconds",
    }),
    created: Created,
    livemode: Livemode,
  },
  { $id: "Snapshot", description: "A saved copy of the sandbox: its objects, endpoints and time" },
);
export type Snapshot = Static<typeof Snapshot>;

export const SnapshotCreate = closed(
  { name: SnapshotName },
  { $id: "SnapshotCreate", description: "Name of the snapshot; an earlier one of the same name is replaced" },
);
export type SnapshotCreate = Static<typeof SnapshotCreate>;

export const SnapshotList = Type.Object(
  { object: objectOf("list"), data: Type.Array(Snapshot, { description: "The snapshots" }) },
  { $id: "SnapshotList", description: "All snapshots, newest first" },
);
export type SnapshotList = Static<typeof SnapshotList>;
