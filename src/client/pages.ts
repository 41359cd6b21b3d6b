import { lowestIdAt, timeOfId } from "../contract/ids.ts";
import { LIMITS } from "../contract/limits.ts";
import type { ListedEvent } from "../contract/schemas/event.ts";
import type { QueryValue } from "./base-url.ts";
import { ApiError } from "./errors.ts";
import type { Client } from "./http.ts";

export interface Page<Item> {
  object: "list";
  data: Item[];
  has_more: boolean;
  next_cursor: string | null;
}

interface Selection<Item> {
  query?: Readonly<Record<string, QueryValue>>;
  max?: number;
  keep?: ((item: Item) => boolean) | undefined;
  onCut?: (() => void) | undefined;
}

/** Yields the items of a list that `keep` selects, newest first, up to `max`. Calls `onCut` if the list has more. */
export async function* listItems<Item>(
  client: Client,
  path: string,
  { query = {}, max = Infinity, keep, onCut }: Selection<Item> = {},
): AsyncGenerator<Item, void, undefined> {
  let left = max;
  let cursor: string | undefined;
  while (left > 0) {
    const limit = keep === undefined ? Math.min(left, LIMITS.maxPageSize) : LIMITS.maxPageSize;
    const { body } = await client.request<Page<Item>>({ method: "GET", path, query: { ...query, limit, cursor } });
    const kept = keep === undefined ? body.data : body.data.filter(keep);
    yield* kept.slice(0, left);
    left -= kept.length;
    if (left >= 0 && (!body.has_more || body.next_cursor === null)) return;
    cursor = body.next_cursor ?? undefined;
  }
  onCut?.();
}

/** Returns all items of a list, newest first. */
export async function allItems<Item>(
  client: Client,
  path: string,
  query: Readonly<Record<string, QueryValue>> = {},
): Promise<Item[]> {
  const items: Item[] = [];
  for await (const item of listItems<Item>(client, path, { query })) items.push(item);
  return items;
}

/** The order of IDs differs from that of commits by at most this much, unless a clock was set back. */
const DISORDER_MILLISECONDS = 60_000;

export async function newestEventId(client: Client): Promise<string | undefined> {
  for await (const { id } of listItems<ListedEvent>(client, "/v1/events", { max: 1 })) return id;
  return undefined;
}

/**
 * Yields the events after one of them, newest first. Lists are in the order of commits, so none is missed: an event may
 * have a lower ID than those before it.
 */
export async function* eventsAfter(
  client: Client,
  id: string | undefined,
): AsyncGenerator<ListedEvent, void, undefined> {
  // Usually there are none, which takes one event to find out.
  if ((await newestEventId(client)) === id) return;
  // Without the event itself, which may have been removed meanwhile, the list would be read to its end.
  const end = id === undefined ? "" : lowestIdAt("event", timeOfId(id) - DISORDER_MILLISECONDS);
  let isListed: boolean | undefined;
  for await (const event of listItems<ListedEvent>(client, "/v1/events")) {
    if (event.id === id) return;
    if (event.id < end && !(isListed ??= await eventExists(client, id!))) return;
    yield event;
  }
}

async function eventExists(client: Client, id: string): Promise<boolean> {
  try {
    await client.request({ method: "GET", path: `/v1/events/${id}` });
    return true;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.code === "event_damaged") return true;
    if (error.status === 404) return false;
    throw error;
  }
}
