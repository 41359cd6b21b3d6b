import { LIMITS } from "../contract/limits.ts";
import type { QueryValue } from "./base-url.ts";
import type { Client } from "./http.ts";

export interface Page<Item> {
  object: "list";
  data: Item[];
  has_more: boolean;
  next_cursor: string | null;
}

/** Walks a list, newest first, page by page, until it ends or `most` items were given. */
export async function* listItems<Item>(
  client: Client,
  path: string,
  { query = {}, most = Infinity }: { query?: Readonly<Record<string, QueryValue>>; most?: number } = {},
): AsyncGenerator<Item, void, undefined> {
  let left = most;
  let cursor: string | undefined;
  while (left > 0) {
    const limit = Math.min(left, LIMITS.pageMost);
    const { body } = await client.request<Page<Item>>({ method: "GET", path, query: { ...query, limit, cursor } });
    yield* body.data.slice(0, limit);
    left -= body.data.length;
    if (!body.has_more || body.next_cursor === null) return;
    cursor = body.next_cursor;
  }
}
