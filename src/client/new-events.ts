import { lowestIdAt, timeOfId } from "../contract/ids.ts";
import type { ListedEvent } from "../contract/schemas/event.ts";
import type { Client } from "./http.ts";
import { listItems } from "./pages.ts";

/** The order of IDs differs from that of commits by at most this much. */
const DISORDER_MILLISECONDS = 60_000;

/** Returns the ID of the newest event. */
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
  // The event itself may have been removed meanwhile.
  const end = id === undefined ? "" : lowestIdAt("event", timeOfId(id) - DISORDER_MILLISECONDS);
  for await (const event of listItems<ListedEvent>(client, "/v1/events")) {
    if (event.id === id || event.id < end) return;
    yield event;
  }
}
