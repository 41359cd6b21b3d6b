import { LIMITS } from "../../contract/limits.ts";
import { timeOfId } from "../../contract/ids.ts";
import type { EventReplay, Replay } from "../../contract/schemas/event.ts";
import type { Transaction } from "../storage/database.ts";
import { findEventToDeliver } from "../storage/events.ts";
import { insertReplay } from "../storage/replays.ts";
import { findEndpoint } from "../storage/webhook-endpoints.ts";
import { ApiError, invalidFields, assertId, missing } from "./api-error.ts";
import { deliverTo, deliverToAll } from "./events.ts";
import type { RequestContext } from "./request-context.ts";
import { endpointDisabled } from "./webhook-endpoints.ts";

/**
 * Sends the same bytes of an event of the last 30 days again: to one endpoint, or to every enabled one that subscribes
 * to it, and to listeners and event streams. Throws ApiError `event_expired` if it is older.
 */
export async function replayEvent(
  tx: Transaction,
  context: RequestContext,
  id: string,
  { endpoint }: EventReplay,
): Promise<Replay> {
  const { tenant, now, newId } = context;
  assertId("event", id);
  // The ID contains its time, so a removed event is known to have expired.
  if (timeOfId(id) < now - LIMITS.replaySeconds * 1000) throw eventExpired(id);
  const event = (await findEventToDeliver(tx, tenant.environment, id)) ?? missing("event", id);
  const deliveries =
    endpoint === undefined
      ? await deliverToAll(tx, context, event)
      : [await deliverTo(tx, context, event, await enabled(tx, tenant.environment, endpoint))];
  const row = { environment: tenant.environment, id: newId("event"), eventId: id, eventType: event.type };
  await insertReplay(tx, row);
  tx.notify("events");
  return { object: "replay", event: id, deliveries };
}

async function enabled(tx: Transaction, environment: number, id: string): Promise<string> {
  const endpoint = await findEndpoint(tx, environment, id);
  if (endpoint === undefined) {
    throw invalidFields([{ pointer: "/endpoint", code: "unknown", detail: `no endpoint has the ID ${id}` }]);
  }
  if (endpoint.status === "disabled") throw endpointDisabled(id);
  return id;
}

export function eventExpired(id: string): ApiError {
  return new ApiError("event_expired", `The event ${id} is older than 30 days and can no longer be replayed.`);
}
