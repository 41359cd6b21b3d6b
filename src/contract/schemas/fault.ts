import { type Static, Type } from "typebox";
import { LIMITS } from "../limits.ts";
import {
  closed,
  count,
  Created,
  deleted,
  formatted,
  idOf,
  integer,
  Livemode,
  named,
  nullable,
  objectOf,
  oneOf,
  parameters,
  several,
} from "./fields.ts";

export const FAULT_EFFECTS = ["status", "delay", "disconnect", "lose_response", "truncate"] as const;
export type FaultEffect = (typeof FAULT_EFFECTS)[number];
export const FAULT_STATUSES = [429, 500, 502, 503] as const;
export const FAULT_METHODS = ["GET", "POST", "PATCH", "DELETE"] as const;

const EFFECT = {
  description:
    "`status`: an error response. `delay`: the request is handled later. `disconnect`: the connection is closed before the request has an effect. " +
    "`lose_response`: the request takes effect, then the connection is closed without a response. `truncate`: the connection is closed after half of the response's body",
};
const Method = oneOf(FAULT_METHODS, "HTTP method; null for every method", "POST");
const MATCH = {
  description: "The requests that get the fault",
  examples: [{ method: "POST", path: "/v1/orders*" }],
};
const Path = formatted("fault-path", "Path of an operation. `{id}` stands for any ID, `*` at the end for any text", {
  maxLength: LIMITS.faultPathLength,
  examples: ["/v1/orders*"],
});
const Status = oneOf(FAULT_STATUSES, "For the effect `status`", 503);
/** It has no example, because an example of a fault has one effect. */
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

export const Fault = named("Fault", "A fault that requests to the sandbox get, to test how a client handles it", {
  id: idOf("fault"),
  object: objectOf("fault"),
  match: Type.Object({ method: nullable(Method), path: Path }, MATCH),
  effect: Type.Enum([...FAULT_EFFECTS], EFFECT),
  status: nullable(integer("Of the effect `status`", 503)),
  delay_ms: nullable(integer("Of the effect `delay`")),
  rate: Type.Number({ ...RATE, examples: [1] }),
  times: nullable(integer("How many requests get it; null for no limit", 5)),
  injected: count("How many requests got it so far"),
  livemode: Livemode,
  created: Created,
});
export type Fault = Static<typeof Fault>;

export const FaultCreate = parameters(
  "FaultCreate",
  "A fault, and the requests that get it. The first fault that matches applies",
  {
    match: closed({ method: Type.Optional(nullable(Method)), path: Path }, MATCH),
    effect: Type.Enum([...FAULT_EFFECTS], EFFECT),
    status: Type.Optional(nullable(Status)),
    delay_ms: Type.Optional(nullable(Delay)),
    rate: Type.Optional(Type.Number({ ...RATE, default: 1 })),
    times: Type.Optional(nullable(Times)),
  },
);
export type FaultCreate = Static<typeof FaultCreate>;

export const FaultList = named("FaultList", "All faults, in the order in which they are tried", {
  object: objectOf("list"),
  data: several(Fault, "The faults"),
});
export type FaultList = Static<typeof FaultList>;

export const DeletedFault = deleted("fault", "DeletedFault");
