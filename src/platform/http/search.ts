import { type IdKind, kindOfId } from "../../contract/ids.ts";
import { LIMITS } from "../../contract/limits.ts";
import type { PageRequest } from "../storage/page.ts";

/** How many rows are read together. */
const BATCH = 500;

/** Rows that were found, and where the next page begins. */
interface Found<Item> {
  rows: Item[];
  /** Undefined after the last row of the list. */
  next: string | undefined;
}

/**
 * Reads a list from a position until a page of matches is found, or `LIMITS.searchedRows` rows were read. So a search
 * costs the same however many rows there are, and goes on with the next page.
 */
export async function searchRows<Item>(
  page: PageRequest,
  list: {
    readRows: (page: PageRequest) => Promise<Item[]>;
    positionOf: (row: Item) => string;
    isMatch: (row: Item) => boolean;
  },
): Promise<Found<Item>> {
  const found: Item[] = [];
  let { position } = page;
  for (let read = 0; read < LIMITS.searchedRows; read += BATCH) {
    const rows = await list.readRows({ ...page, position, limit: BATCH });
    for (const [index, row] of rows.slice(0, BATCH).entries()) {
      if (!list.isMatch(row)) continue;
      found.push(row);
      const isLast = index === rows.length - 1;
      if (found.length === page.limit) return { rows: found, next: isLast ? undefined : list.positionOf(row) };
    }
    if (rows.length <= BATCH) return { rows: found, next: undefined };
    position = list.positionOf(rows[BATCH - 1]!);
  }
  return { rows: found, next: position };
}

/** Returns a test for values that contain a text, ignoring case and the kind of spaces. Names of fields do not count. */
export function matcherOf(query: string): (values: unknown) => boolean {
  const wanted = normalized(query.trim());
  return (values) => textsOf(values).some((text) => normalized(text).includes(wanted));
}

function normalized(text: string): string {
  return text.toLowerCase().replaceAll(/\s+/g, " ");
}

/** Fields that a search would find everything by: an order's `object` is `order`, and times begin with the year. */
const OF_EVERY_OBJECT = new Set(["object", "created"]);

/** Returns the values within a value, and amounts as they are shown. */
function textsOf(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value === "number") return [String(value)];
  if (typeof value !== "object" || value === null) return [];
  const values = Object.entries(value).flatMap(([name, of]) =>
    OF_EVERY_OBJECT.has(name) && typeof of === "string" ? [] : textsOf(of),
  );
  return [...values, ...amountOf(value as Record<string, unknown>)];
}

/** Returns filters for which an index exists, in place of a search for the whole ID that they take. */
export function narrowed<Filters extends { query?: string }>(
  filters: Filters,
  references: Readonly<Partial<Record<IdKind, keyof Filters & string>>>,
): Filters {
  const kind = kindOfId(filters.query ?? "");
  const name = kind === undefined ? undefined : references[kind];
  return name === undefined || filters[name] !== undefined ? filters : { ...filters, [name]: filters.query };
}

/** How amounts are written in languages that separate thousands by commas, dots or spaces, and without separators. */
const LOCALES = ["en", "de", "fr"].map((locale) => ({ locale, useGrouping: true }));
const WRITINGS = [...LOCALES, ...LOCALES.slice(0, 2).map(({ locale }) => ({ locale, useGrouping: false }))];

const writers = new Map<string, ((amount: number) => string)[]>();

/** Returns an amount in major units. */
function amountOf({ amount, currency }: Record<string, unknown>): string[] {
  if (typeof amount !== "number" || typeof currency !== "string" || !/^[A-Z]{3}$/.test(currency)) return [];
  let known = writers.get(currency);
  if (known === undefined) {
    const digits = new Intl.NumberFormat("en", { style: "currency", currency }).resolvedOptions()
      .maximumFractionDigits!;
    known = WRITINGS.map(({ locale, useGrouping }) => {
      const options = { useGrouping, minimumFractionDigits: digits, maximumFractionDigits: digits };
      const format = new Intl.NumberFormat(locale, options);
      return (minor) => format.format(minor / 10 ** digits);
    });
    writers.set(currency, known);
  }
  return known.map((write) => `${currency} ${write(amount)} ${currency}`);
}
