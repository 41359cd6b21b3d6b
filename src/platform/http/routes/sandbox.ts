import { allSnapshots, deleteSnapshot, resetSandbox, restoreSnapshot, saveSnapshot } from "../../domain/sandbox.ts";
import type { Clock } from "../../ports.ts";
import type { Handlers } from "../operation.ts";

export function sandboxHandlers(clock: Clock): Handlers<"sandbox"> {
  return {
    resetSandbox: {
      isolation: "read committed",
      startsAgain: true,
      write: ({ caller, body }, tx) => resetSandbox(tx, caller.tenant, body, clock.now()),
    },
    listSnapshots: async ({ caller }, queries) => ({
      object: "list",
      data: await allSnapshots(queries, caller.tenant),
    }),
    saveSnapshot: ({ caller, body }, tx) => saveSnapshot(tx, caller.tenant, body.name, clock.now()),
    restoreSnapshot: {
      isolation: "read committed",
      startsAgain: true,
      write: ({ caller, id }, tx) => restoreSnapshot(tx, caller.tenant, id, clock.now()),
    },
    deleteSnapshot: ({ caller, id }, tx) => deleteSnapshot(tx, caller.tenant, id, clock.now()),
  };
}
