import { type Static, Type } from "typebox";
import { EVENT_TYPES } from "../event-types.ts";
import { exampleOf, inputFieldsOf } from "../resources.ts";
import {
  SEARCH_FILTERS,
  count,
  Created,
  formatted,
  group,
  idOf,
  listOf,
  listQuery,
  Livemode,
  named,
  nullable,
  objectOf,
  oneOf,
  parameters,
  several,
  text,
} from "./fields.ts";

/** Any object. A record of unknown values would be equivalent, but tests each key of a body against a pattern. */
const snapshotOf = (description: string) =>
  Type.Unsafe<Record<string, unknown>>({
    type: "object",
    description,
    examples: [
      {
        id: "cus_4Vf8aTqz0bKm2sNw9XyRcd",
        object: "customer",
        ...Object.fromEntries(inputFieldsOf("customer").map(([name, field]) => [name, exampleOf(field) ?? null])),
        metadata: {},
        livemode: false,
        created: "2026-11-01T12:00:00Z",
      },
    ],
  });

/** The envelope of an event; `data.previous` exists on `*.updated` only. */
export const Event = named("Event", "A change of a resource, with the resource as it was then", {
  id: idOf("event"),
  object: objectOf("event"),
  type: oneOf(EVENT_TYPES, "What happened to which kind of object"),
  created: Created,
  livemode: Livemode,
  data: group("The object that the event is about", {
    object: snapshotOf("The object right after the change"),
    previous: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: "Previous values of the changed fields, in events of updates",
      }),
    ),
  }),
  request: group("The API request that caused the event", {
    id: nullable(idOf("request", "ID of the API request; null if none caused the event")),
  }),
});
export type Event = Static<typeof Event>;

/** Sandbox only. `data` is the envelope's `data`, or the resource itself, which then becomes `data.object`. */
export const EventCreate = parameters("EventCreate", "Parameters of a manually created event", {
  type: formatted("event-type", "Type of the event"),
  data: snapshotOf("The object, or the whole `data` of the event, with `object`"),
});
export type EventCreate = Static<typeof EventCreate>;

export const EventReplay = parameters("EventReplay", "Recipients of the replay", {
  endpoint: Type.Optional(idOf("webhook_endpoint", "Send only to this endpoint (default: all subscribed endpoints)")),
});
export type EventReplay = Static<typeof EventReplay>;

/** The result of a replay: the IDs of its deliveries to endpoints. Listening sessions get the event without one. */
export const Replay = named("Replay", "The result of a replay", {
  object: objectOf("replay"),
  event: idOf("event"),
  deliveries: several(idOf("delivery"), "IDs of the new deliveries, one for each endpoint"),
  listeners: count("Open sessions of `service listen` that get the event"),
});
export type Replay = Static<typeof Replay>;

export const EventListQuery = listQuery({
  type: Type.Optional(formatted("subscription", "An event type, or a wildcard such as `order.*`")),
  related: Type.Optional(formatted("related-id", "ID of the resource that the event is about")),
  ...SEARCH_FILTERS,
});
export type EventListQuery = Static<typeof EventListQuery>;

/** A list contains the event so that its loss shows. Read alone, it is an error. */
export const DamagedEvent = named("DamagedEvent", "An event whose stored body is damaged and cannot be read", {
  id: idOf("event"),
  object: objectOf("event"),
  type: oneOf(EVENT_TYPES, "Type of the event"),
  created: Created,
  data: Type.Null({ description: "Its data cannot be read" }),
  damaged: Type.Literal(true, { description: "True for a damaged event only" }),
});

export type ListedEvent = Event | Static<typeof DamagedEvent>;

export const EventList = listOf(Type.Union([Event, DamagedEvent]), "EventList");

/** The header with which a client of server-sent events resumes (HTML standard). */
export const LAST_EVENT_ID = "Last-Event-ID";

export const EventStreamQuery = Type.Object(
  {
    after: Type.Optional(
      text("Start position: after an event ID, `now` (the default), or `-600` for 600 seconds ago", "now"),
    ),
    type: Type.Optional(formatted("subscription", "A type, or a wildcard such as `order.*`")),
  },
  { additionalProperties: false },
);
