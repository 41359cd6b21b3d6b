import { pause } from "../../network/clock.ts";
import { type EventType, matchesSubscriptions, typesOfSubscription } from "../../contract/event-types.ts";
import { isRecord } from "../../contract/json.ts";
import { kindOfId } from "../../contract/ids.ts";
import { kindsWith, type ResourceKind } from "../../contract/resources.ts";
import type { Static } from "typebox";
import type { DamagedEvent, EventListQuery } from "../../contract/schemas/event.ts";
import { formatTimestamp } from "../../contract/timestamps.ts";
import type { Clock } from "../ports.ts";
import type { Queries } from "../storage/database.ts";
import { insertDeliveries } from "../storage/deliveries.ts";
import {
  type EventPage,
  type EventRow,
  findEvent,
  insertEvent,
  listEvents,
  type EventListRow,
  openEvent,
  type OpenedEvent,
} from "../storage/events.ts";
import type { PageRequest } from "../storage/page.ts";
import { enabledEndpoints, type SubscribedEndpoint } from "../storage/webhook-endpoints.ts";
import { existing } from "./api-error.ts";
import type { RequestContext, Tenant } from "./request-context.ts";

/** A change and the resource after it. `previous` holds the old values of the fields that changed. */
export interface DomainEvent {
  type: EventType;
  object: Record<string, unknown>;
  previous?: Record<string, unknown>;
}

/**
 * Writes the event and a delivery for every endpoint that subscribes to it, in the caller's transaction: a change, its
 * event and the deliveries become durable together. `exceptId` names an endpoint that gets no delivery. Returns the
 * event's row.
 */
export async function emit(context: RequestContext, domainEvent: DomainEvent, exceptId?: string) {
  // Sent together, so that neither waits for the other's result.
  const [event, endpoints] = await Promise.all([
    writeEvent(context, domainEvent),
    enabledEndpoints(context.tx, context.tenant.environment),
  ]);
  const others = endpoints.filter(({ id }) => id !== exceptId);
  await deliverToSubscribers(context, event, others);
  return event;
}

/** Writes the event and its delivery to one endpoint, even if the endpoint does not subscribe to it. */
export async function emitTo(context: RequestContext, domainEvent: DomainEvent, endpointId: string) {
  const event = await writeEvent(context, domainEvent);
  await deliverTo(context, event, [endpointId]);
  return event;
}

async function writeEvent(context: RequestContext, domainEvent: DomainEvent): Promise<EventRow> {
  const { tx, tenant, now, versions } = context;
  const { type, object, previous } = domainEvent;
  const id = context.newId("event");
  const envelope = versions.event(tenant.account.version, {
    id,
    object: "event",
    type,
    created: formatTimestamp(now),
    livemode: tenant.livemode,
    data: previous === undefined ? { object } : { object, previous },
    request: { id: context.requestId },
  });
  const body = JSON.stringify(envelope);
  const row: EventRow = { environment: tenant.environment, id, type, object_id: relatedId(object), created: now, body };
  await insertEvent(tx, row, context.trace ?? null);
  tx.notify("events");
  return row;
}

/** Returns the ID by which the event can be found. A custom event may be about anything; other IDs are not indexed. */
function relatedId({ id }: Record<string, unknown>): string | null {
  return typeof id === "string" && isRelatable(id) ? id : null;
}

/** Creates a delivery for each enabled endpoint that subscribes to the event. Returns their IDs. */
export async function deliverToAll(context: RequestContext, event: EventRow): Promise<string[]> {
  return deliverToSubscribers(context, event, await enabledEndpoints(context.tx, context.tenant.environment));
}

function deliverToSubscribers(context: RequestContext, event: EventRow, endpoints: readonly SubscribedEndpoint[]) {
  const subscribed = endpoints.filter(({ events }) => matchesSubscriptions(JSON.parse(events) as string[], event.type));
  const ids = subscribed.map(({ id }) => id);
  return deliverTo(context, event, ids);
}

/** Creates a delivery of the event to each endpoint, due now. Returns their IDs. */
export async function deliverTo(context: RequestContext, event: EventRow, endpointIds: readonly string[]) {
  const { tx, tenant, now, newId } = context;
  if (endpointIds.length === 0) return [];
  const rows = endpointIds.map((endpointId) => ({
    id: newId("delivery"),
    environment: tenant.environment,
    event_id: event.id,
    event_type: event.type,
    endpoint_id: endpointId,
    listener_id: null,
    target: null,
    status: "pending" as const,
    attempt_count: 0,
    next_attempt: now,
    created: now,
  }));
  await insertDeliveries(tx, rows);
  tx.notify("deliveries");
  return rows.map(({ id }) => id);
}

export async function getEvent(queries: Queries, tenant: Tenant, id: string): Promise<EventRow> {
  return await existing("event", id, () => findEvent(queries, tenant.environment, id));
}

/**
 * How long a page waits for transactions in flight, in steps. The caller's own event may only be listed after theirs.
 */
const WAITS_MS = [2, 4, 8, 16, 32, 64];

export async function pageOfEvents(queries: Queries, clock: Clock, page: PageRequest, filters: EventListQuery) {
  const types = typesOf(filters);
  const objectIds = filters.related === undefined ? undefined : [filters.related];
  const read = () => listEvents(queries, page, { types, objectIds });
  const first = await read();
  let last = first;
  for (const wait of page.position === undefined ? WAITS_MS : []) {
    if (last.horizon > first.heldBack) break;
    await pause(clock, wait);
    last = await read();
  }
  return last.rows;
}

function typesOf({ type }: EventListQuery): EventType[] | undefined {
  return type === undefined || type === "*" ? undefined : typesOfSubscription(type);
}

/** Returns the newest events about some objects. */
export async function eventsAbout(
  queries: Queries,
  objectIds: readonly string[],
  page: PageRequest,
  filters: EventListQuery = {},
): Promise<EventPage["rows"]> {
  if (objectIds.length === 0 || filters.related !== undefined) return [];
  return (await listEvents(queries, page, { types: typesOf(filters), objectIds })).rows;
}

/** Returns an event of a page with the body to show; undefined if it has been removed meanwhile. */
export async function openListed(queries: Queries, row: EventListRow): Promise<OpenedEvent | undefined> {
  const event = await openEvent(queries, row);
  return event?.isDamaged === true ? { ...event, body: JSON.stringify(toDamaged(row)) } : event;
}

function toDamaged({ id, type, created }: EventListRow): Static<typeof DamagedEvent> {
  return { id, object: "event", type, created: formatTimestamp(created), data: null, damaged: true };
}

/** Creates an event on request (sandbox). `data` is the envelope's data, or the resource itself. */
export function emitByHand(context: RequestContext, type: EventType, data: Record<string, unknown>) {
  const { object, previous } = data;
  if (!isRecord(object)) return emit(context, { type, object: data });
  return emit(context, { type, object, ...(isRecord(previous) ? { previous } : {}) });
}

export const RELATABLE: readonly ResourceKind[] = kindsWith("events");

/** Returns true if the text is the ID of a resource that events are about. */
export function isRelatable(text: string): boolean {
  return RELATABLE.some((kind) => kind === kindOfId(text));
}
