import { type IdKind, isId } from "../../contract/ids.ts";
import type { Operation } from "../../contract/operations.ts";
import { LIMITS } from "../../contract/limits.ts";
import { invalidFields, ApiError } from "../domain/api-error.ts";
import { createdRangeOf, type IdRange, idRangeOf, type PageRequest } from "../storage/page.ts";
import type { Vault } from "../security/vault.ts";
import { declaredFields } from "./declared-fields.ts";
import { reads, Turns } from "../storage/large-reads.ts";
import { candidateMatcherOf, matcherOf } from "./search.ts";
import type { Deadline } from "./deadline.ts";
import { type Call, RawJson } from "./call.ts";
import { untilRead } from "./unread.ts";
import type { TArray } from "typebox";
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
    const detail = "The cursor is not valid for this list with these filters. Start again without it.";
    throw new ApiError("invalid_cursor", detail);
  }
  return position;
}

function signedText({ list, environment, filters }: CursorScope, position: string): string {
  const canonical = Object.entries(filters).filter(([, value]) => value !== undefined);
  canonical.sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify(["cursor", list, environment, canonical, position]);
}

export interface Listed {
  id: string | null;
  created: string | number;
}

export interface ListQuery {
  limit?: number;
  cursor?: string;
  created_after?: string;
  created_before?: string;
  query?: string;
}

/** What a list is made of: rows, and items as clients see them, of which a row may lack a large part. */
interface ListOf<Row, Item> {
  /** Reads a page of rows, and one more than requested if another page follows. */
  readRows: (page: PageRequest) => Promise<Row[]>;
  /** Serializes an item (default: as the operation's response declares it). */
  toJson: (item: Item) => string;
  /** Returns the item of a row; undefined if it has been removed meanwhile. */
  open: (row: Row) => Promise<Item | undefined>;
  bytesOf: (row: Row) => number;
  positionOf: (row: Row) => string;
  /** Returns the newest rows that a search finds before all others, wherever they are in the list: at most a page. */
  foundFirst: (page: PageRequest) => Promise<Row[]>;
  /** The IDs of what a search names: it finds what refers to any of them, too. */
  named: ReadonlySet<string> | undefined;
  /** A position before the first row of a page. */
  topOf: (page: PageRequest) => string;
  /** A filter that no index decides, for which as many items are read as for a search. */
  isMatch: ((item: Item) => boolean) | undefined;
  /** Number of rows that a search reads at once. */
  batch: number;
  /** Returns the values that a search looks through. */
  valuesOf: (item: Item) => unknown;
  /** Returns the JSON of these values, if they have not been parsed. */
  textOf: ((item: Item) => string) | undefined;
}

/** Returns a page of a list, newest first, by keyset on the position. */
export async function sendList<Row extends Listed, Query extends ListQuery, Item extends Row = Row>(
  vault: Vault,
  kind: IdKind,
  call: Call<unknown, Query>,
  readRows: ListOf<Row, Item>["readRows"],
  {
    toJson = serializerOf(call.operation),
    open = async (row) => row as Item,
    bytesOf = () => 0,
    positionOf = ({ id }) => id ?? "",
    foundFirst = async () => [],
    named,
    topOf = ({ before }) => before ?? HIGHEST_POSITION,
    isMatch: isWanted,
    batch = BATCH,
    textOf,
    valuesOf = textOf === undefined ? (item) => item : (item) => JSON.parse(textOf(item)) as unknown,
  }: Partial<ListOf<Row, Item>> = {},
): Promise<RawJson> {
  const { limit = LIMITS.pageDefault, cursor, ...filters } = call.query;
  const environment = call.caller.tenant.environment;
  const scope = { list: kind, environment, filters };
  const [position, shown] = cursor === undefined ? [] : decodeCursor(vault, scope, cursor).split("+");
  const created = createdRangeOf(filters);
  if (created.from !== undefined && created.before !== undefined && created.from > created.before) {
    throw invalidFields([{ pointer: "?created_after", code: "out_of_range", detail: "must be before created_before" }]);
  }
  const page = { environment, position, limit, ...boundsOf(kind, idRangeOf(kind, created), filters.query) };
  const isFound = searchOf(filters.query, named, valuesOf, textOf);
  const isMatch = isWanted && isFound ? (item: Item) => isWanted(item) && isFound(item) : (isWanted ?? isFound);
  const list = { readRows, toJson, open, bytesOf, positionOf, foundFirst, topOf, batch, isMatch };
  const turn = new LargePageTurn();
  try {
    const first = position === undefined ? limit : Number(shown ?? 0);
    const { items, next: nextPosition, number } = await readItems(page, first, list, turn, call.deadline);
    const next = nextPosition && encodeCursor(vault, scope, number > 0 ? `${nextPosition}+${number}` : nextPosition);
    const hasMore = next !== undefined;
    const data = items.join(",");
    const text = `{"object":"list","data":[${data}],"has_more":${hasMore},"next_cursor":${JSON.stringify(next ?? null)}}`;
    return new RawJson(turn.end === undefined ? text : Buffer.from(text), next);
  } finally {
    turn.end?.();
  }
}

/** A page with more bytes than this is assembled when it is its turn, since V8 frees long texts late. */
const LARGE_PAGE_BYTES = 256 * 1024;
const largePages = new Turns();
/** How long a large page waits until clients have read earlier ones. */
const PATIENCE_MS = 1000;

class LargePageTurn {
  /** Ends the turn; set once it is taken. */
  end: (() => void) | undefined;

  async take(): Promise<void> {
    if (this.end !== undefined) return;
    const began = performance.now();
    this.end = await largePages.begin();
    await untilRead(PATIENCE_MS - (performance.now() - began));
  }
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

/** Returns a test for a search; undefined if every row matches. */
function searchOf<Item>(
  query: string | undefined,
  named: ReadonlySet<string> | undefined,
  valuesOf: (item: Item) => unknown,
  textOf: ((item: Item) => string) | undefined,
) {
  if (query === undefined) return undefined;
  const isCandidate = candidateMatcherOf(query, named);
  const isFound = matcherOf(query, named);
  return (item: Item) => (textOf === undefined || isCandidate(textOf(item))) && isFound(valuesOf(item));
}

/** A position above every ID. */
const HIGHEST_POSITION = "~";
/** Number of rows that a search reads at once by default: rows may be large. */
const BATCH = 100;

/**
 * Reads a list from a position until its page is full, which it is before an item that would exceed `LIMITS.pageBytes`. A
 * search ends after `LIMITS.searchedRows` rows, too, which bounds its cost. It begins with `firstLimit` rows that are
 * found first; later pages leave these out. Returns the items' JSON.
 */
async function readItems<Row, Item extends Row>(
  page: PageRequest,
  firstLimit: number,
  list: Omit<ListOf<Row, Item>, "named" | "valuesOf" | "textOf">,
  turn: LargePageTurn,
  deadline: Deadline,
) {
  const { toJson, open, bytesOf, positionOf, isMatch } = list;
  const isSearch = isMatch !== undefined && firstLimit > 0;
  const first = isSearch ? await list.foundFirst({ ...page, position: undefined, limit: firstLimit }) : [];
  const known = new Set<string>();
  const items: string[] = [];
  let bytes = 0;
  for (const row of first.slice(0, firstLimit)) {
    if (page.position === undefined) {
      bytes += bytesOf(row);
      if (bytes > LIMITS.pageBytes && items.length > 0) break;
      if (bytes > LARGE_PAGE_BYTES) await turn.take();
      deadline.assertTime();
      const item = await open(row);
      if (item !== undefined && isMatch!(item)) items.push(toJson(item));
    }
    known.add(positionOf(row));
  }
  const ended = (next: string | undefined) => ({ items, next, number: known.size });
  if (items.length === page.limit || bytes > LIMITS.pageBytes) return ended(list.topOf(page));
  const limit = isMatch === undefined ? page.limit : list.batch;
  let { position } = page;
  for (let read = 0; read < LIMITS.searchedRows; read += limit) {
    const readMore = () => list.readRows({ ...page, position, limit });
    const rows = await (isMatch === undefined ? readMore() : reads.run(readMore));
    for (const [index, row] of rows.slice(0, limit).entries()) {
      bytes += bytesOf(row);
      if (bytes > LIMITS.pageBytes && position !== page.position) return ended(position);
      if (bytes > LARGE_PAGE_BYTES) await turn.take();
      deadline.assertTime();
      const item = await open(row);
      if (item === undefined) continue;
      position = positionOf(row);
      if (isMatch?.(item) === false || known.has(position)) continue;
      items.push(toJson(item));
      if (items.length === page.limit) return ended(index === rows.length - 1 ? undefined : position);
    }
    if (rows.length <= limit) return ended(undefined);
  }
  return ended(position);
}

/** Returns a function that serializes an item with the fields that the operation's response declares. */
function serializerOf({ response }: Operation): (item: object) => string {
  const { items } = response.properties["data"] as TArray;
  const select = declaredFields(items);
  return (item) => JSON.stringify(select(item));
}
