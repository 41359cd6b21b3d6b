import type { IdKind } from "../../contract/ids.ts";
import { lowestIdAt } from "../../contract/ids.ts";
import { LIMITS } from "../../contract/limits.ts";
import { parseTimestamp } from "../../contract/timestamps.ts";
import { invalidFields } from "../domain/api-error.ts";
import type { PageRequest } from "../storage/page.ts";
import type { Vault } from "../vault.ts";
import { decodeCursor, encodeCursor } from "./cursor.ts";
import { type Call, RawJson } from "./operation.ts";

interface ListQuery {
  limit?: number;
  cursor?: string;
  created_after?: string;
  created_before?: string;
}

/** Reads a page of rows, one more than asked for where another page follows. */
type ReadRows<Item> = (page: PageRequest) => Promise<Item[]>;

/** An item as it is shown: its JSON, and its position in the list, which is its ID in most lists. */
interface Rendered {
  position: string;
  json: string;
}

/**
 * Returns a page of a list, newest first, by keyset on the position. Times are searched by the ID, since IDs hold their
 * time.
 */
export async function answerList<Item, Query extends ListQuery>(
  vault: Vault,
  kind: IdKind,
  call: Call<unknown, Query>,
  readRows: ReadRows<Item>,
  render: (item: Item) => Rendered,
): Promise<RawJson> {
  const { limit = LIMITS.pageDefault, cursor, ...filters } = call.query;
  const environment = call.caller.tenant.environment;
  const scope = { list: kind, environment, filters };
  const position = cursor === undefined ? undefined : decodeCursor(vault, scope, cursor);
  const before = upperBound(kind, filters.created_before);
  const from = lowerBound(kind, filters.created_after);
  if (from !== undefined && before !== undefined && from > before) {
    throw invalidFields([
      { pointer: "?created_after", code: "out_of_range", detail: "must lie before created_before" },
    ]);
  }
  const rows = await readRows({ environment, position, before, from, limit });
  const items = rows.slice(0, limit).map(render);
  const hasMore = rows.length > limit;
  const next = hasMore ? JSON.stringify(encodeCursor(vault, scope, items.at(-1)!.position)) : "null";
  const data = items.map(({ json }) => json).join(",");
  return new RawJson(`{"object":"list","data":[${data}],"has_more":${hasMore},"next_cursor":${next}}`);
}

/** How most resources are rendered. */
export function asJson(item: { id: string }): Rendered {
  return { position: item.id, json: JSON.stringify(item) };
}

function lowerBound(kind: IdKind, createdAfter: string | undefined): string | undefined {
  return createdAfter === undefined ? undefined : lowestIdAt(kind, parseTimestamp(createdAfter)! + 1000);
}

function upperBound(kind: IdKind, createdBefore: string | undefined): string | undefined {
  return createdBefore === undefined ? undefined : lowestIdAt(kind, parseTimestamp(createdBefore)!);
}
