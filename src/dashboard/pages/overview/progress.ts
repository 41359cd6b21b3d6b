import { useEffect, useState } from "preact/hooks";
import type { Delivery } from "../../../contract/schemas/delivery.ts";
import type { Event } from "../../../contract/schemas/event.ts";
import type { WebhookEndpoint } from "../../../contract/schemas/webhook-endpoint.ts";
import { withQuery } from "../../api/call.ts";
import type { Pages } from "../../api/pages.ts";
import { useQuery } from "../../api/store.ts";

/** A user with this many events or deliveries needs no first steps. */
const PRACTICED = 20;

/** Which of the first steps are done. */
export interface Progress {
  hasEndpoint: boolean;
  hasEvent: boolean;
  /** The latest successful delivery. */
  delivered: Delivery | undefined;
}

/**
 * Watches the first steps until they are done: undefined while unknown, null if none is left to show, or if they are not
 * wanted because something else is.
 */
export function useProgress(endpoints: Pages<WebhookEndpoint>, isWanted: boolean): Progress | null | undefined {
  const [isDone, setDone] = useState(false);
  const read = (path: string, query: Record<string, string | number>) =>
    isDone || !isWanted ? undefined : withQuery(path, query);
  const events = useQuery<{ data: Event[] }>(read("/v1/events", { limit: PRACTICED }));
  const succeeded = useQuery<{ data: Delivery[] }>(read("/v1/deliveries", { status: "succeeded", limit: PRACTICED }));
  const deliveries = succeeded.data?.data ?? [];
  const isOver =
    [deliveries, events.data?.data ?? []].some(({ length }) => length >= PRACTICED) || hasRepeated(deliveries);
  useEffect(() => {
    if (isOver) setDone(true);
  }, [isOver]);
  const isUnreadable = [endpoints, events, succeeded].some(({ error }) => error !== undefined);
  if (isDone || isOver || !isWanted) return null;
  if (endpoints.items === undefined || events.data === undefined || succeeded.data === undefined) {
    return isUnreadable ? null : undefined;
  }
  const [delivered] = deliveries;
  return {
    hasEndpoint: endpoints.items.length > 0 || delivered !== undefined,
    hasEvent: events.data.data.length > 0,
    delivered,
  };
}

/**
 * Returns true if an event was delivered to the same endpoint twice: a replay, or a listener that received it again.
 */
function hasRepeated(deliveries: readonly Delivery[]): boolean {
  const first = new Set<string>();
  return deliveries.some(({ event, endpoint, listener, attempt_count: attempts }) => {
    const name = `${event} ${endpoint ?? listener}`;
    const isSecond = first.has(name) || (listener !== null && attempts > 1);
    first.add(name);
    return isSecond;
  });
}
