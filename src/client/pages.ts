import { LIMITS } from "../contract/limits.ts";
import type { QueryValue } from "./base-url.ts";
import type { Client } from "./http.ts";

export interface Page<Item> {
  object: "list";
  data: Item[];
  has_more: boolean;
  next_cursor: string | null;
}

/** Yields the items of a list, newest first, up to `max`. Calls `onCut` if the list has more. */
export async function* listItems<Item>(
  client: Client,
  path: string,
  {
    query = {},
    max = Infinity,
    onCut,
  }: { query?: Readonly<Record<string, QueryValue>>; max?: number; onCut?: (() => void) | undefined } = {},
): AsyncGenerator<Item, void, undefined> {
  let left = max;
  let cursor: string | undefined;
  while (left > 0) {
    const limit = Math.min(left, LIMITS.maxPageSize);
    const { body } = await client.request<Page<Item>>({ method: "GET", path, query: { ...query, limit, cursor } });
    yield* body.data.slice(0, limit);
    left -= body.data.length;
    if (!body.has_more || body.next_cursor === null) return;
    cursor = body.next_cursor;
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
