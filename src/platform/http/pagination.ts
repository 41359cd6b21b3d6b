import { type IdKind, isId } from "../../contract/ids.ts";
import { LIMITS } from "../../contract/limits.ts";
import { parseTimestamp } from "../../contract/timestamps.ts";
import { invalidFields, ApiError } from "../domain/api-error.ts";
import { type CreatedRange, createdRangeOf, type IdRange, idRangeOf, isInRange } from "../storage/created-range.ts";
import type { Queries } from "../storage/database.ts";
import type { PageRequest } from "../storage/page.ts";
import type { Vault } from "../secrets/vault.ts";
import { declaredFields } from "./declared-fields.ts";
import { matcherOf, searchRows } from "./search.ts";
import { type Call, RawJson } from "./operation.ts";
import type { TSchema } from "typebox";
import { timingSafeEqual } from "node:crypto";

/** The list, environment and filters that a cursor is valid for. */
interface CursorScope {
  list: string;
  environment: number;
  filters: Record<string, unknown>;
}

const TAG_BYTES = 16;

/** The signed position of the last row. */
export function encodeCursor(vault: Vault, scope: CursorScope, position: string): string {
  return Buffer.concat([vault.tag(signedText(scope, position)), Buffer.from(position)]).toString("base64url");
}

/**
 * Returns the position that a cursor holds. Throws ApiError `invalid_cursor` if it was edited or created for another
 * list.
 */
export function decodeCursor(vault: Vault, scope: CursorScope, cursor: string): string {
  const bytes = Buffer.from(cursor, "base64url");
  const position = bytes.subarray(TAG_BYTES).toString("utf8");
  const tag = bytes.subarray(0, TAG_BYTES);
  // Characters that the decoder ignores are edits, too.
  const whole = tag.length === TAG_BYTES && bytes.toString("base64url") === cursor;
  if (!whole || !timingSafeEqual(tag, vault.tag(signedText(scope, position)))) {
    throw new ApiError(
      "invalid_cursor",
      "The cursor is not valid for this list with these filters. Start again without it.",
    );
  }
  return position;
}

function signedText({ list, environment, filters }: CursorScope, position: string): string {
  const canonical = Object.entries(filters).filter(([, value]) => value !== undefined);
  canonical.sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify(["cursor", list, environment, canonical, position]);
}

interface ListQuery {
  limit?: number;
  cursor?: string;
  created_after?: string;
  created_before?: string;
  query?: string;
}

/** Reads a page of rows, and one more than requested if another page follows. */
type ReadRows<Item> = (page: PageRequest) => Promise<Item[]>;

/** A rendered item: its JSON, and its position in the list, which is its ID in most lists. */
interface Rendered {
  position: string;
  json: string;
}

/** Returns a page of a list, newest first, by keyset on the position. */
export async function sendList<Item extends { created: string | number }, Query extends ListQuery>(
  { vault, queries }: { vault: Vault; queries: Queries },
  kind: IdKind,
  call: Call<unknown, Query>,
  readRows: ReadRows<Item>,
  render: (item: Item) => Rendered,
  /** Returns the values that a search looks through. */
  valuesOf: (item: Item) => unknown = (item) => item,
): Promise<RawJson> {
  const { limit = LIMITS.pageDefault, cursor, ...filters } = call.query;
  const environment = call.caller.tenant.environment;
  const scope = { list: kind, environment, filters };
  const position = cursor === undefined ? undefined : decodeCursor(vault, scope, cursor);
  const created = createdRangeOf(filters);
  if (created.from !== undefined && created.before !== undefined && created.from > created.before) {
    throw invalidFields([{ pointer: "?created_after", code: "out_of_range", detail: "must be before created_before" }]);
  }
  const ids = await idRangeOf(queries, environment, kind, created);
  const page = { environment, position, limit, ...boundsOf(kind, ids, filters.query) };
  const isMatch = matches(filters.query, valuesOf, ids.isExact ? undefined : created);
  const { rows, next: nextPosition } = await readPart(page, { readRows, render, isMatch });
  const items = rows.map(render);
  const next = nextPosition === undefined ? null : encodeCursor(vault, scope, nextPosition);
  const hasMore = next !== null;
  const data = items.map(({ json }) => json).join(",");
  const text = `{"object":"list","data":[${data}],"has_more":${hasMore},"next_cursor":${JSON.stringify(next)}}`;
  return new RawJson(text, next ?? undefined);
}

/** Replaces a search for an item's ID by a filter for that item. */
function boundsOf(kind: IdKind, { before, from }: IdRange, query: string | undefined) {
  if (query === undefined || !isId(kind, query)) return { before, from };
  const after = `${query}0`;
  return {
    from: from === undefined || from < query ? query : from,
    before: before === undefined || before > after ? after : before,
  };
}

/** Returns a test for a search and for times that IDs do not decide; undefined if every row matches. */
function matches<Item extends { created: string | number }>(
  query: string | undefined,
  valuesOf: (item: Item) => unknown,
  created: CreatedRange | undefined,
): ((item: Item) => boolean) | undefined {
  if (query === undefined && created === undefined) return undefined;
  const isFound = query === undefined ? () => true : matcherOf(query);
  const timeOf = ({ created: time }: Item) => (typeof time === "number" ? time : parseTimestamp(time)!);
  return (item) => (created === undefined || isInRange(created, timeOf(item))) && isFound(valuesOf(item));
}

async function readPart<Item>(
  page: PageRequest,
  list: {
    readRows: ReadRows<Item>;
    render: (item: Item) => Rendered;
    isMatch: ((item: Item) => boolean) | undefined;
  },
) {
  const { readRows, render, isMatch } = list;
  const positionOf = (row: Item) => render(row).position;
  if (isMatch !== undefined) return searchRows(page, { readRows, positionOf, isMatch });
  const rows = await readRows(page);
  const shown = rows.slice(0, page.limit);
  return { rows: shown, next: rows.length > page.limit ? positionOf(shown.at(-1)!) : undefined };
}

/** Renders most resources. */
export function asJson(schema: TSchema): (item: { id: string; created: string }) => Rendered {
  const select = declaredFields(schema);
  return (item) => ({ position: item.id, json: JSON.stringify(select(item)) });
}
