import { matchesSubscriptions } from "../contract/event-types.ts";
import { timeOfId } from "../contract/ids.ts";
import type { Delivery } from "../contract/schemas/delivery.ts";
import type { ListedEvent } from "../contract/schemas/event.ts";
import type { WebhookEndpoint } from "../contract/schemas/webhook-endpoint.ts";
import { formatTimestamp } from "../contract/timestamps.ts";

/** What decides which endpoints an event is sent to. */
export type SentEvent = Pick<ListedEvent, "id" | "type" | "data">;

/** Returns the endpoints that existed and subscribe to an event, and have no delivery of it. */
export function withoutDelivery<Endpoint extends WebhookEndpoint>(
  { id, type, data }: SentEvent,
  endpoints: readonly Endpoint[],
  deliveries: readonly Pick<Delivery, "endpoint">[],
): Endpoint[] {
  // No endpoint gets a report about itself, and a damaged event is not sent.
  return endpoints.filter(
    (endpoint) =>
      data !== null &&
      matchesSubscriptions(endpoint.events, type) &&
      timeOfId(endpoint.id) <= timeOfId(id) &&
      data.object["id"] !== endpoint.id &&
      !deliveries.some((delivery) => delivery.endpoint === endpoint.id),
  );
}

/** Returns the endpoints that an event was not sent to, because they have been disabled since before it. */
export function notSentTo<Endpoint extends WebhookEndpoint>(
  event: SentEvent,
  endpoints: readonly Endpoint[],
  deliveries: readonly Pick<Delivery, "endpoint">[],
): Endpoint[] {
  // A test event is sent to one endpoint.
  if (event.type === "webhook_endpoint.ping") return [];
  return withoutDelivery(event, endpoints, deliveries).filter((endpoint) => wasDisabled(endpoint, event));
}

/** Items of a list that are counted. */
export const MAX_COUNTED = 1000;

type ReadPage = (
  path: string,
  query: Record<string, string>,
) => Promise<{ data: unknown[]; next_cursor: string | null } | undefined>;

/** Returns the newest items of a list. */
async function pagesOf<Item>(read: ReadPage, path: string, query: Record<string, string>): Promise<Item[]> {
  const items: Item[] = [];
  for (let page = query; items.length < MAX_COUNTED;) {
    const found = await read(path, page);
    items.push(...((found?.data ?? []) as Item[]));
    if (!found?.next_cursor) break;
    page = { ...query, cursor: found.next_cursor };
  }
  return items;
}

/** Returns the events that an endpoint was not sent since it was disabled, of the newest of each of its subscriptions. */
export async function unsentTo(endpoint: WebhookEndpoint, read: ReadPage): Promise<ListedEvent[]> {
  if (endpoint.status !== "disabled" || endpoint.disabled_at === null) return [];
  // The filter excludes the second that it names.
  const since = { created_after: formatTimestamp(Date.parse(endpoint.disabled_at) - 1000) };
  const deliveries = await pagesOf<Delivery>(read, "/v1/deliveries", { ...since, endpoint: endpoint.id });
  const lists = await Promise.all(
    endpoint.events.map((type) => pagesOf<ListedEvent>(read, "/v1/events", { ...since, type })),
  );
  const events = new Map(lists.flat().map((event) => [event.id, event]));
  const own = ({ id }: ListedEvent) => deliveries.filter((delivery) => delivery.event === id);
  return [...events.values()].filter((event) => notSentTo(event, [endpoint], own(event)).length > 0);
}

/** Returns whether an endpoint has been disabled since before an event. */
export function wasDisabled({ status, disabled_at: at }: WebhookEndpoint, { id }: Pick<SentEvent, "id">): boolean {
  return status === "disabled" && at !== null && Date.parse(at) <= timeOfId(id);
}
