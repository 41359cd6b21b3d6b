import type { EventType } from "../../../contract/event-types.ts";
import { Event, EventCreate, EventList, EventListQuery, EventReplay, Replay } from "../../../contract/schemas/event.ts";
import { replayEvent } from "../../domain/deliveries.ts";
import { emitByHand, getEvent, openListed, pageOfEvents, RELATABLE } from "../../domain/events.ts";
import type { OpenedEvent } from "../../storage/events.ts";
import { type Operation, RawJson, readOperation, writeOperation } from "../operation.ts";
import { sendList } from "../pagination.ts";
import { narrowed } from "../search.ts";
import type { Clock } from "../../ports.ts";
import type { Vault } from "../../secrets/vault.ts";

const REFERENCES = Object.fromEntries(RELATABLE.map((kind) => [kind, "related" as const]));

/** Events are returned as the bytes that were delivered: nothing is parsed and serialized again. */
export function eventOperations(vault: Vault, clock: Clock): Operation[] {
  return [
    readOperation({
      name: "listEvents",
      summary: "List events, newest first",
      method: "GET",
      path: "/v1/events",
      scope: "events:read",
      query: EventListQuery,
      response: { status: 200, schema: EventList },
      read: (call, queries) =>
        sendList(
          vault,
          "event",
          call,
          (page) => pageOfEvents(queries, clock, page, narrowed(call.query, REFERENCES)),
          ({ body }: OpenedEvent) => body,
          {
            open: (row) => openListed(queries, row),
            bytesOf: ({ body_bytes: bytes }) => bytes,
            positionOf: ({ seq }) => String(seq),
            textOf: ({ body }) => body,
          },
        ),
    }),
    readOperation({
      name: "getEvent",
      summary: "Retrieve an event",
      method: "GET",
      path: "/v1/events/{id}",
      scope: "events:read",
      errors: ["event_damaged"],
      response: { status: 200, schema: Event },
      read: async ({ caller, id }, queries) => new RawJson((await getEvent(queries, caller.tenant, id)).body),
    }),
    writeOperation({
      name: "createEvent",
      summary: "Create a custom event",
      method: "POST",
      path: "/v1/events",
      additive: true,
      scope: "events:write",
      sandboxOnly: true,
      body: EventCreate,
      response: { status: 201, schema: Event },
      write: async ({ body }, tx, context) =>
        new RawJson((await emitByHand(tx, context, body.type as EventType, body.data)).body),
    }),
    writeOperation({
      name: "replayEvent",
      summary: "Replay an event of the last 30 days",
      method: "POST",
      path: "/v1/events/{id}/replay",
      scope: "events:write",
      body: EventReplay,
      errors: ["endpoint_disabled", "event_expired", "event_damaged"],
      response: { status: 201, schema: Replay },
      write: ({ id, body: { endpoint } }, tx, context) =>
        replayEvent(tx, context, id, endpoint === undefined ? undefined : [endpoint]),
    }),
  ];
}
