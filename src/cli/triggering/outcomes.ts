import { ApiError } from "../../client/errors.ts";
import type { Client } from "../../client/http.ts";
import { allItems } from "../../client/pages.ts";
import { matchesSubscriptions } from "../../contract/event-types.ts";
import { timeOfId } from "../../contract/ids.ts";
import { urlFor } from "../../contract/listen.ts";
import type { Delivery } from "../../contract/schemas/delivery.ts";
import type { Event } from "../../contract/schemas/event.ts";
import type { Statistics } from "../../contract/schemas/statistics.ts";

/** The deliveries of an event, and the targets of connected listeners that have no delivery of it yet. */
export interface Outcomes {
  deliveries: Delivery[];
  /** Targets of listeners that have the event and have not reported their last attempt. */
  forwarding: string[];
  /** Targets of listeners that were connected, and of which nothing is known yet. */
  unknown: string[];
}

/** Reads the outcomes of an event. A listener has a delivery only after its last attempt. */
export async function readOutcomes(
  client: Client,
  { id, type, request }: Pick<Event, "id" | "type" | "request">,
): Promise<Outcomes> {
  // Before the deliveries: a listener that finishes in between is not counted as unknown.
  const { listener_connections: connections, listener_results: results } = await readListeners(client, id);
  const deliveries = await allItems<Delivery>(client, "/v1/deliveries", { event: id });
  const outcomes: Outcomes = { deliveries, forwarding: [], unknown: [] };
  for (const { listener, events, targets, connected_at: start, disconnected_at: end } of connections) {
    const url = urlFor(targets, type);
    if (end !== null || url === undefined || !matchesSubscriptions(events, type)) continue;
    if (deliveries.some((delivery) => delivery.listener === listener && delivery.target === url)) continue;
    const known = results.filter((result) => result.listener === listener);
    if (known.some(({ result }) => result === "forwarding")) outcomes.forwarding.push(url);
    // Connections have real times, as requests have.
    else if (known.length === 0 && Date.parse(start) <= timeOfId(request.id ?? id)) outcomes.unknown.push(url);
  }
  return outcomes;
}

async function readListeners(
  client: Client,
  event: string,
): Promise<Pick<Statistics, "listener_connections" | "listener_results">> {
  try {
    const request = { method: "GET", path: "/v1/statistics", query: { event, minutes: 1 } } as const;
    return (await client.request<Statistics>(request)).body;
  } catch (error) {
    // The credential may read deliveries only.
    if (error instanceof ApiError && error.status === 403) return { listener_connections: [], listener_results: [] };
    throw error;
  }
}
