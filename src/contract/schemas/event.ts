import { type Static, Type } from "typebox";
import { EVENT_TYPES } from "../event-types.ts";
import { CREATED_FILTERS, closed, listOf, listQuery, nullable, Timestamp } from "./fields.ts";

const Snapshot = Type.Record(Type.String(), Type.Unknown());

/** Platform specification 6, the envelope; `data.previous` on `*.updated` (decisions 4). */
export const Event = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal("event"),
    type: Type.Enum([...EVENT_TYPES]),
    created: Timestamp,
    livemode: Type.Boolean(),
    data: Type.Object({ object: Snapshot, previous: Type.Optional(Snapshot) }),
    request: Type.Object({ id: nullable(Type.String()) }),
  },
  { $id: "Event" },
);
export type Event = Static<typeof Event>;

/** Sandbox only. `data` is the envelope's `data`, or the resource itself, which then becomes `data.object`. */
export const EventCreate = closed(
  { type: Type.String({ format: "event-type" }), data: Type.Record(Type.String(), Type.Unknown()) },
  { $id: "EventCreate" },
);
export type EventCreate = Static<typeof EventCreate>;

export const EventReplay = closed(
  { endpoint: Type.Optional(Type.String({ format: "webhook_endpoint-id" })) },
  { $id: "EventReplay" },
);
export type EventReplay = Static<typeof EventReplay>;

/** What a replay made: deliveries to endpoints, by their ids. Listening sessions get the event without one. */
export const Replay = Type.Object(
  { object: Type.Literal("replay"), event: Type.String(), deliveries: Type.Array(Type.String()) },
  { $id: "Replay" },
);
export type Replay = Static<typeof Replay>;

export const EventListQuery = listQuery({
  type: Type.Optional(Type.String({ format: "subscription" })),
  related: Type.Optional(Type.String()),
  ...CREATED_FILTERS,
});
export type EventListQuery = Static<typeof EventListQuery>;

export const EventList = listOf(Event, "EventList");
