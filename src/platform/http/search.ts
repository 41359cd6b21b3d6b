import { type IdKind, idsOf, kindOfId } from "../../contract/ids.ts";
import { LIMITS } from "../../contract/limits.ts";
import type { PageRequest } from "../storage/page.ts";

/** Number of rows to read at once. */
const BATCH = 500;

/** The matching rows, and where the next page begins. */
interface Found<Item> {
  rows: Item[];
  /** Undefined after the last row of the list. */
  next: string | undefined;
}

/**
 * Reads a list from a position until a page of matches is complete, or `LIMITS.searchedRows` rows have been read. This
 * bounds the cost of a search, which continues with the next page.
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

/**
 * Returns a test for values that contain a text, ignoring case and the kind of spaces, or one of several IDs. Names of
 * fields do not count.
 */
export function matcherOf(query: string): (values: unknown) => boolean {
  const ids = idsOf(query);
  if (ids.length > 1) {
    const known = new Set(ids);
    return (values) => textsOf(values).some((text) => known.has(text));
  }
  const needle = normalized(query.trim());
  return (values) => textsOf(values).some((text) => normalized(text).includes(needle));
}

function normalized(text: string): string {
  return text.toLowerCase().replaceAll(/\s+/g, " ");
}

/** Fields with values that every search would match: an order's `object` is `order`, and times begin with the year. */
const OF_EVERY_OBJECT = new Set(["object", "created"]);

/** Returns the nested values of a value, and formatted amounts. */
function textsOf(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value === "number") return [String(value)];
  if (typeof value !== "object" || value === null) return [];
  const values = Object.entries(value).flatMap(([name, of]) =>
    OF_EVERY_OBJECT.has(name) && typeof of === "string" ? [] : textsOf(of),
  );
  return [...values, ...amountOf(value as Record<string, unknown>)];
}

/** Returns filters with an index, instead of a search for a complete ID. */
export function narrowed<Filters extends { query?: string }>(
  filters: Filters,
  references: Readonly<Partial<Record<IdKind, keyof Filters & string>>>,
): Filters {
  const kind = kindOfId(filters.query ?? "");
  const name = kind === undefined ? undefined : references[kind];
  return name === undefined || filters[name] !== undefined ? filters : { ...filters, [name]: filters.query };
}

/** Formats of amounts with commas, dots or spaces as thousands separators, and without any. */
const LOCALES = ["en", "de", "fr"].map((locale) => ({ locale, useGrouping: true }));
const WRITINGS = [...LOCALES, ...LOCALES.slice(0, 2).map(({ locale }) => ({ locale, useGrouping: false }))];

const writers = new Map<string, ((amount: number) => string)[]>();

/** Returns an amount in major units. */
function amountOf({ amount, currency }: Record<string, unknown>): string[] {
  if (typeof amount !== "number" || typeof currency !== "string" || !/^[A-Z]{3}$/.test(currency)) return [];
  let formatters = writers.get(currency);
  if (formatters === undefined) {
    const digits = new Intl.NumberFormat("en", { style: "currency", currency }).resolvedOptions()
      .maximumFractionDigits!;
    formatters = WRITINGS.map(({ locale, useGrouping }) => {
      const options = { useGrouping, minimumFractionDigits: digits, maximumFractionDigits: digits };
      const format = new Intl.NumberFormat(locale, options);
      return (minor) => format.format(minor / 10 ** digits);
    });
    writers.set(currency, formatters);
  }
  return formatters.map((write) => `${currency} ${write(amount)} ${currency}`);
}
