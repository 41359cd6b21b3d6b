import { allFaults, createFault, getFault, removeFault, removeFaults } from "../../domain/faults.ts";
import type { Handlers } from "../operation.ts";

export function faultHandlers(): Handlers<"faults"> {
  return {
    createFault: ({ body }, tx, context) => createFault(tx, context, body),
    listFaults: ({ caller }, queries) => allFaults(queries, caller.tenant),
    getFault: ({ caller, id }, queries) => getFault(queries, caller.tenant, id),
    deleteFault: ({ caller, id }, tx) => removeFault(tx, caller.tenant, id),
    deleteFaults: ({ caller }, tx) => removeFaults(tx, caller.tenant),
  };
}
