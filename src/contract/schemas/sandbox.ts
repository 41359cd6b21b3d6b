import { type Static, Type } from "typebox";
import { closed, Livemode, Timestamp } from "./fields.ts";

export const Sandbox = Type.Object(
  {
    object: Type.Literal("sandbox"),
    reset_at: Type.String({ ...Timestamp, description: "When the sandbox was started again, in real time" }),
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
