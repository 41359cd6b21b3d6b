import type { EventType } from "../../../contract/event-types.ts";
import { createBulkOperation } from "../../domain/bulk-operations.ts";
import { replayEvent } from "../../domain/deliveries.ts";
import { emitByHand, getEvent, openListed, pageOfEvents, RELATABLE } from "../../domain/events.ts";
import type { OpenedEvent } from "../../storage/events.ts";
import { RawJson } from "../../http/call.ts";
import type { Handlers } from "../operation.ts";
import { sendList } from "../../http/pagination.ts";
import type { Listeners } from "./statistics.ts";
import { narrowed } from "../../http/search.ts";
import type { Clock } from "../../ports.ts";
import type { Vault } from "../../security/vault.ts";

const REFERENCES = Object.fromEntries(RELATABLE.map((kind) => [kind, "related" as const]));

/** Events are returned as the bytes that were delivered: nothing is parsed and serialized again. */
export function eventHandlers(vault: Vault, clock: Clock, listeners: Listeners): Handlers<"events"> {
  return {
    listEvents: (call, queries) =>
      sendList(vault, "event", call, (page) => pageOfEvents(queries, clock, page, narrowed(call.query, REFERENCES)), {
        toJson: ({ body }: OpenedEvent) => body,
        open: (row) => openListed(queries, row),
        bytesOf: ({ body_bytes: bytes }) => bytes,
        positionOf: ({ seq }) => String(seq),
        textOf: ({ body }) => body,
      }),
    getEvent: async ({ caller, id }, queries) => new RawJson((await getEvent(queries, caller.tenant, id)).body),
    createEvent: {
      isolation: "batched",
      write: async ({ body }, tx, context) =>
        new RawJson((await emitByHand(tx, context, body.type as EventType, body.data)).body),
    },
    replayEvent: async ({ id, body: { endpoint } }, tx, context) => {
      const { type, deliveries } = await replayEvent(tx, context, id, endpoint === undefined ? undefined : [endpoint]);
      const count = await listeners.count(tx, context.tenant.environment, type);
      return { object: "replay", event: id, deliveries, listeners: count };
    },
    replayEvents: ({ body }, tx, context) => createBulkOperation(tx, context, "events.replay", body),
  };
}
