import { type Static, Type } from "typebox";
import { LIMITS } from "../limits.ts";
import { closed, Created, deleted, idOf, Livemode, nullable, objectOf } from "./fields.ts";

export const FAULT_EFFECTS = ["status", "delay", "disconnect", "lose_response", "truncate"] as const;
export type FaultEffect = (typeof FAULT_EFFECTS)[number];
export const FAULT_STATUSES = [429, 500, 502, 503] as const;
export const FAULT_METHODS = ["GET", "POST", "PATCH", "DELETE"] as const;

const EFFECT = {
  description:
    "`status`: an error response. `delay`: the request is handled later. `disconnect`: the connection is closed before the request has an effect. " +
    "`lose_response`: the request takes effect, then the connection is closed without a response. `truncate`: the connection is closed after half of the response's body",
};
const Method = Type.Enum([...FAULT_METHODS], { description: "HTTP method; null for every method", examples: ["POST"] });
const MATCH = {
  description: "The requests that get the fault",
  examples: [{ method: "POST", path: "/v1/orders*" }],
};
const Path = Type.String({
  format: "fault-path",
  maxLength: LIMITS.faultPathLength,
  description: "Path of an operation. `{id}` stands for any ID, `*` at the end for any text",
  examples: ["/v1/orders*"],
});
const Status = Type.Enum([...FAULT_STATUSES], { description: "For the effect `status`", examples: [503] });
/** Without an example: an example of a fault has one effect. */
const Delay = Type.Integer({
  minimum: 1,
  maximum: LIMITS.maxFaultDelayMilliseconds,
  description: "For the effect `delay`, in milliseconds",
});
const RATE = {
  minimum: 0,
  maximum: 1,
  description: "Probability that a matching request gets it: 1 is every request, 0.1 one in ten",
};
const Times = Type.Integer({
  minimum: 1,
  maximum: LIMITS.maxFaultTimes,
  description: "How many requests get it; null for no limit",
  examples: [5],
});

export const Fault = Type.Object(
  {
    id: idOf("fault"),
    object: objectOf("fault"),
    match: Type.Object({ method: nullable(Method), path: Path }, MATCH),
    effect: Type.Enum([...FAULT_EFFECTS], EFFECT),
    status: nullable(Type.Integer({ description: "Of the effect `status`", examples: [503] })),
    delay_ms: nullable(Type.Integer({ description: "Of the effect `delay`" })),
    rate: Type.Number({ ...RATE, examples: [1] }),
    times: nullable(Type.Integer({ description: "How many requests get it; null for no limit", examples: [5] })),
    injected: Type.Integer({ minimum: 0, description: "How many requests got it so far" }),
    livemode: Livemode,
    created: Created,
  },
  { $id: "Fault", description: "A fault that requests to the sandbox get, to test how a client handles it" },
);
export type Fault = Static<typeof Fault>;

export const FaultCreate = closed(
  {
    match: closed({ method: Type.Optional(nullable(Method)), path: Path }, MATCH),
    effect: Type.Enum([...FAULT_EFFECTS], EFFECT),
    status: Type.Optional(nullable(Status)),
    delay_ms: Type.Optional(nullable(Delay)),
    rate: Type.Optional(Type.Number({ ...RATE, default: 1 })),
    times: Type.Optional(nullable(Times)),
  },
  { $id: "FaultCreate", description: "A fault, and the requests that get it. The first fault that matches applies" },
);
export type FaultCreate = Static<typeof FaultCreate>;

export const FaultList = Type.Object(
  { object: objectOf("list"), data: Type.Array(Fault, { description: "The faults" }) },
  { $id: "FaultList", description: "All faults, in the order in which they are tried" },
);
export type FaultList = Static<typeof FaultList>;

export const DeletedFault = deleted("fault", "DeletedFault");
