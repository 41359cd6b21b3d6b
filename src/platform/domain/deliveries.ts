import { matchesSubscriptions } from "../../contract/event-types.ts";
import { idsOf, isId, timeOfId } from "../../contract/ids.ts";
import { LIMITS } from "../../contract/limits.ts";
import { urlFor } from "../../contract/listen.ts";
import type { Attempt, Delivery, DeliveryListQuery } from "../../contract/schemas/delivery.ts";
import type { ListedEvent } from "../../contract/schemas/event.ts";
import type { ListenerConnection } from "../../contract/schemas/statistics.ts";
import { formatTimestamp } from "../../contract/timestamps.ts";
import { ApiError, assertId, existing, missing, unknownReference } from "./api-error.ts";
import { deliverTo, deliverToAll, eventsAbout } from "./events.ts";
import type { Named } from "./objects.ts";
import type { RequestContext, Tenant } from "./request-context.ts";
import { endpointDisabled } from "./webhook-endpoints.ts";
import {
  cancelDelivery,
  type DeliveryRow,
  findDelivery,
  findDeliveryWithAttempts,
  findListenerDeliveries,
  listDeliveries,
  moveListenerDelivery,
  requeueDelivery,
  type ShownAttempt,
  type ShownDelivery,
} from "../storage/deliveries.ts";
import type { Queries, Transaction } from "../storage/database.ts";
import { findEnvironment } from "../storage/environments.ts";
import type { Addressee } from "../storage/event-log.ts";
import { type EventRow, findEventToDeliver, insertReplay, readSmallBodies } from "../storage/events.ts";
import type { PageRequest } from "../storage/page.ts";
import { endpointRows } from "../storage/webhook-endpoints.ts";

export async function getDelivery(queries: Queries, tenant: Tenant, id: string): Promise<Delivery> {
  const found = await existing("delivery", id, () => findDeliveryWithAttempts(queries, tenant.environment, id));
  return { ...toDelivery(found.delivery, tenant), attempts: found.attempts.map(toAttempt) };
}

export async function pageOfDeliveries(
  queries: Queries,
  tenant: Tenant,
  page: PageRequest,
  { endpoint, event, status, query = "" }: DeliveryListQuery,
): Promise<Delivery[]> {
  const ids = idsOf(query);
  const searched = ids.length > 0 && ids.every((id) => isId("event", id)) ? ids : undefined;
  const eventIds = event === undefined ? searched : [event];
  const statuses =
    status === "undelivered"
      ? (["pending", "failed"] as const)
      : status && [status === "retrying" ? "pending" : status];
  const filters = { endpointId: endpoint, eventIds, statuses };
  const rows = await listDeliveries(queries, page, filters);
  return rows.map((row) => toDelivery(row, tenant));
}

/** A delivery with the object of its event, if a search may find something in it. */
export type SearchedDelivery = Delivery & { about?: unknown };

/** Adds the objects of their events to deliveries, of those whose JSON a search accepts. Large ones are left out. */
export async function withObjects(
  queries: Queries,
  { environment }: Tenant,
  deliveries: readonly Delivery[],
  isCandidate: (json: string) => boolean,
): Promise<SearchedDelivery[]> {
  const events = [...new Set(deliveries.map(({ event }) => event))];
  const bodies = await readSmallBodies(queries, environment, events);
  return deliveries.map((delivery) => {
    const body = bodies.get(delivery.event);
    if (body === undefined || !isCandidate(body)) return delivery;
    return { ...delivery, about: (JSON.parse(body) as ListedEvent).data };
  });
}

/** Returns the newest deliveries about objects that a search names as a whole. */
export async function deliveriesOfNamed(
  queries: Queries,
  tenant: Tenant,
  page: PageRequest,
  filters: DeliveryListQuery,
  named: Named,
): Promise<SearchedDelivery[]> {
  const { environment, limit } = page;
  const events = await eventsAbout(queries, named.wholeIds, { environment, limit });
  const ids = events.slice(0, limit).map(({ id }) => id);
  if (ids.length === 0 || filters.event !== undefined) return [];
  const found = await pageOfDeliveries(queries, tenant, page, { ...filters, query: ids.join(",") });
  return found.map((delivery) => ({ ...delivery, about: [...named.ids] }));
}

/** An open connection of `service listen`. */
export interface Session extends ListenerConnection {
  /** Unix milliseconds, in real time. */
  openedAt: number;
  /** True if it ends after one event. */
  once?: boolean | undefined;
}

/** Returns the open connections in a sandbox, in any process. */
export type Sessions = (queries: Queries, tenant: Tenant) => Promise<Session[]>;

/**
 * Makes a delivery due now unless it has succeeded. One that had ended gets another 3 days of retries; the event of one
 * to a listener is replayed to it. Throws ApiError `delivery_not_retryable`, `endpoint_disabled`, `endpoint_deleted` or
 * `event_expired`.
 */
export async function retryDelivery(context: RequestContext, id: string, sessionsIn: Sessions): Promise<Delivery> {
  const { tx } = context;
  const row = await existing("delivery", id, () => findDelivery(tx, context.tenant.environment, id));
  if (row.status === "succeeded")
    throw notRetryable(id, `it has succeeded; replay the event ${row.event_id} to send it again`);
  if (row.endpoint_id === null) return retryAtListener(context, row, await sessionsIn(tx, context.tenant));
  if (row.endpoint_status === null) {
    const detail = `The endpoint ${row.endpoint_id} was deleted. Replay the event to another endpoint.`;
    throw new ApiError("endpoint_deleted", detail);
  }
  if (row.endpoint_status === "disabled") throw endpointDisabled(row.endpoint_id);
  if ((await findEventToDeliver(tx, row.environment, row.event_id)) === undefined) throw eventExpired(row.event_id);
  await requeueDelivery(tx, row, context.now);
  tx.notify("deliveries");
  return toDelivery({ ...row, status: "pending", next_attempt: context.now }, context.tenant);
}

/**
 * Replays the event of a delivery to the sessions that forward it to the delivery's target. If there are none, the
 * application may have moved: then the delivery is now to the target of the newest session that has not had the event.
 */
async function retryAtListener(context: RequestContext, row: ShownDelivery, sessions: Session[]): Promise<Delivery> {
  const { tx, tenant } = context;
  const { id, event_id: eventId, event_type: type } = row;
  const event = await eventToReplay(context, eventId);
  const receivers = sessions
    .filter(({ events, once }) => once !== true && matchesSubscriptions(events, type))
    .map(({ listener, targets, openedAt }) => ({ listener, target: urlFor(targets, type) ?? null, openedAt }))
    .toSorted((a, b) => b.openedAt - a.openedAt);
  const isTo = ({ listener, target }: Addressee, one: Pick<DeliveryRow, "listener_id" | "target">) =>
    one.listener_id === listener && one.target === target;
  let addressee: Addressee | undefined = receivers.find((one) => isTo(one, row));
  if (addressee === undefined) {
    const known = await findListenerDeliveries(tx, tenant.environment, [eventId]);
    const { clock_offset: offset } = await findEnvironment(tx, tenant.environment);
    // One that was open before may be forwarding the event at present.
    const isNew = ({ openedAt }: { openedAt: number }) => openedAt + offset > timeOfId(eventId);
    addressee = receivers.find(
      (one) => one.target !== null && isNew(one) && !known.some((delivery) => isTo(one, delivery)),
    );
    if (addressee === undefined) {
      const place = row.target === null ? "is connected" : `forwards ${type} to ${row.target}`;
      throw notRetryable(id, `no listener ${place}; replay the event ${eventId} instead`);
    }
    await moveListenerDelivery(tx, id, addressee);
  }
  await logReplay(context, event, addressee);
  return toDelivery({ ...row, listener_id: addressee.listener, target: addressee.target }, tenant);
}

/** Cancels a pending delivery: it is not attempted any more. Throws ApiError `delivery_not_cancelable`. */
export async function cancelPending(context: RequestContext, id: string): Promise<Delivery> {
  const { tx } = context;
  const row = await existing("delivery", id, () => findDelivery(tx, context.tenant.environment, id));
  if (row.status !== "canceled" && !(await cancelDelivery(tx, id))) {
    const detail = `The delivery ${id} cannot be canceled: it has ${row.status}.`;
    throw new ApiError("delivery_not_cancelable", detail);
  }
  return toDelivery({ ...row, status: "canceled", next_attempt: null }, context.tenant);
}

function notRetryable(id: string, reason: string): ApiError {
  return new ApiError("delivery_not_retryable", `The delivery ${id} cannot be retried: ${reason}.`);
}

function toDelivery(row: ShownDelivery, tenant: Tenant): Delivery {
  // While its endpoint is disabled, a delivery waits and has no next attempt.
  const scheduled = row.endpoint_status === "enabled" ? row.next_attempt : null;
  return {
    id: row.id,
    object: "delivery",
    event: row.event_id,
    event_type: row.event_type,
    endpoint: row.endpoint_id,
    listener: row.listener_id,
    target: row.target,
    status: row.status,
    attempt_count: row.attempt_count,
    last_status_code: row.last_status_code,
    last_error: row.last_error,
    last_attempt_at: row.last_at === null ? null : formatTimestamp(row.last_at),
    next_attempt: scheduled === null ? null : formatTimestamp(scheduled),
    attempting_since: row.begun_at === null ? null : formatTimestamp(row.begun_at),
    livemode: tenant.livemode,
    created: formatTimestamp(row.created),
  };
}

export function toAttempt(row: Omit<ShownAttempt, "delivery_id" | "number">): Attempt {
  return {
    at: formatTimestamp(row.at),
    status_code: row.status_code,
    error: row.error,
    duration_ms: row.duration_ms,
    request_headers: headersOf(row.request_headers),
    response_headers: headersOf(row.response_headers),
    response_excerpt: row.response_excerpt,
    injected: row.injected,
  };
}

function headersOf(json: string | null): Record<string, string> | null {
  return json === null ? null : (JSON.parse(json) as Record<string, string>);
}

/**
 * Sends the same bytes of an event of the last 30 days again: to those of some endpoints that can get it, or to every
 * enabled one that subscribes to it, and to listeners and event streams. Throws ApiError `event_expired` if it is older,
 * and `invalid_request` or `endpoint_disabled` if none of the endpoints can get it.
 */
export async function replayEvent(context: RequestContext, id: string, endpointIds?: readonly string[]) {
  const { tx, tenant } = context;
  const event = await eventToReplay(context, id);
  const deliveries =
    endpointIds === undefined
      ? await deliverToAll(context, event)
      : await deliverTo(context, event, await enabledAmong(tx, tenant.environment, endpointIds));
  await logReplay(context, event);
  return { type: event.type, deliveries };
}

async function eventToReplay({ tx, tenant, now }: RequestContext, id: string): Promise<EventRow> {
  assertId("event", id);
  // The ID contains its time, so a removed event is known to have expired.
  if (timeOfId(id) < now - LIMITS.replaySeconds * 1000) throw eventExpired(id);
  return (await findEventToDeliver(tx, tenant.environment, id)) ?? missing("event", id);
}

async function logReplay(context: RequestContext, { environment, id, type }: EventRow, addressee?: Addressee) {
  const { tx, newId } = context;
  await insertReplay(tx, { environment, id: newId("event"), eventId: id, eventType: type, addressee });
  tx.notify("events");
}

/** Returns the endpoints that are enabled. If there are none, throws the ApiError of the first one. */
async function enabledAmong(tx: Transaction, environment: number, ids: readonly string[]): Promise<string[]> {
  const enabled: string[] = [];
  const errors: ApiError[] = [];
  for (const id of ids) {
    const status = (await endpointRows.find(tx, environment, id))?.status;
    if (status === "enabled") enabled.push(id);
    else if (status === "disabled") errors.push(endpointDisabled(id));
    else errors.push(unknownReference("endpoint", "endpoint", id));
  }
  if (enabled.length === 0 && errors[0] !== undefined) throw errors[0];
  return enabled;
}

function eventExpired(id: string): ApiError {
  return new ApiError("event_expired", `The event ${id} is older than 30 days and can no longer be replayed.`);
}
