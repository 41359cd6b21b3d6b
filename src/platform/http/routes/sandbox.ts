import { resetSandbox } from "../../domain/sandbox.ts";
import type { Clock } from "../../ports.ts";
import type { Handlers } from "../operation.ts";

export function sandboxHandlers(clock: Clock): Handlers<"sandbox"> {
  return {
    resetSandbox: {
      isolation: "read committed",
      startsAgain: true,
      write: ({ caller, body }, tx) => resetSandbox(tx, caller.tenant, body, clock.now()),
    },
  };
}
