import {
  allSnapshots,
  copySandbox,
  copySnapshot,
  deleteSnapshot,
  resetSandbox,
  restoreSnapshot,
  saveSnapshot,
} from "../../domain/sandbox.ts";
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
    saveSnapshot: {
      isolation: "serialized",
      prepare: async ({ caller, body: { name }, deadline }, database) => {
        const tools = { database, clock, assertTime: () => deadline.assertTime() };
        const copied = await copySandbox(tools, caller.tenant, name);
        return (_call, tx) => saveSnapshot(tx, caller.tenant, { name, ...copied, now: clock.now() });
      },
    },
    restoreSnapshot: {
      isolation: "read committed",
      startsAgain: true,
      prepare: async ({ caller, id: name, deadline }, database) => {
        const tools = { database, clock, assertTime: () => deadline.assertTime() };
        const copied = await copySnapshot(tools, caller.tenant, name);
        return (_call, tx) => restoreSnapshot(tx, caller.tenant, { name, ...copied, now: clock.now() });
      },
    },
    deleteSnapshot: ({ caller, id }, tx) => deleteSnapshot(tx, caller.tenant, id, clock.now()),
  };
}
