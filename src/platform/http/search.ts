import { type IdKind, idsOf, kindOfId } from "../../contract/ids.ts";

const NONE: ReadonlySet<string> = new Set();

/**
 * Returns a test for values that contain a text, ignoring case and the kind of spaces, or one of several IDs. Names of
 * fields do not count. `named` are the IDs of what the text names.
 */
export function matcherOf(query: string, named = NONE): (values: unknown) => boolean {
  const ids = idsOf(query);
  if (ids.length > 1) {
    const known = new Set([...ids, ...named]);
    return (values) => someText(values, (text) => known.has(text));
  }
  const needle = normalized(query.trim());
  const asSearched = needle.includes(" ") ? normalized : (text: string) => text.toLowerCase();
  // The lower case of a character has at most three.
  return (values) =>
    someText(
      values,
      (text) => (text.length * 3 >= needle.length && asSearched(text).includes(needle)) || named.has(text),
    );
}

function normalized(text: string): string {
  return text.toLowerCase().replaceAll(/\s{2,}|[^\S ]/g, " ");
}

const SLICE_LENGTH = 32 * 1024;

/**
 * Returns a test for JSON text, which is true if `matcherOf` may accept its values. It excludes most texts, and takes a
 * fraction of the time of parsing a large one.
 */
export function candidateMatcherOf(query: string, named = NONE): (json: string) => boolean {
  const ids = idsOf(query);
  if (ids.length > 1) {
    const known = new Set([...ids, ...named]);
    return (json) => hasIdAmong(json, known);
  }
  const words = normalized(query.trim())
    .split(" ")
    .map((word) => JSON.stringify(word).slice(1, -1));
  // As in an amount: without separators and leading zeros.
  const digits = query.replaceAll(/\D/g, "").replace(/^0+/, "");
  const mayBeAmount = /\d/.test(query);
  return (json) => {
    if (mayBeAmount && json.includes(digits)) return true;
    if (words.every((word) => containsLowerCase(json, word))) return true;
    return named.size > 0 && hasIdAmong(json, named);
  };
}

function hasIdAmong(json: string, ids: ReadonlySet<string>): boolean {
  for (const [, id] of json.matchAll(/"([a-z]{2,5}_[0-9A-Za-z]{22})"/g)) if (ids.has(id!)) return true;
  return false;
}

/** Returns whether the lower case of a text contains a word. Converts it in slices: a large copy costs more memory. */
function containsLowerCase(text: string, word: string): boolean {
  for (let start = 0; start < text.length; start += SLICE_LENGTH) {
    const slice = text.slice(start, start + SLICE_LENGTH + word.length);
    if (slice.toLowerCase().includes(word)) return true;
  }
  return false;
}

/** Fields with values that every search would match: an order's `object` is `order`, and times begin with the year. */
const OF_EVERY_OBJECT = new Set(["object", "created"]);

/** Returns whether a nested value or a formatted amount passes a test. Copies nothing: an event may be large. */
function someText(value: unknown, test: (text: string) => boolean): boolean {
  if (typeof value === "string") return test(value);
  if (typeof value === "number") return test(String(value));
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return value.some((item) => someText(item, test));
  for (const name in value) {
    const of = (value as Record<string, unknown>)[name];
    if ((typeof of !== "string" || !OF_EVERY_OBJECT.has(name)) && someText(of, test)) return true;
  }
  return amountOf(value as Record<string, unknown>).some(test);
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

/** Separators of thousands and of decimals. */
const WRITINGS = [
  [",", "."],
  [".", ","],
  [" ", ","],
  ["", "."],
  ["", ","],
] as const;

const decimals = new Map<string, number>();

/** Returns an amount in major units. */
function amountOf({ amount, currency }: Record<string, unknown>): string[] {
  if (!Number.isSafeInteger(amount) || typeof currency !== "string" || !/^[A-Z]{3}$/.test(currency)) return [];
  let places = decimals.get(currency);
  if (places === undefined) {
    const format = new Intl.NumberFormat("en", { style: "currency", currency });
    places = format.resolvedOptions().maximumFractionDigits!;
    decimals.set(currency, places);
  }
  const sign = (amount as number) < 0 ? "-" : "";
  const digits = String(Math.abs(amount as number)).padStart(places + 1, "0");
  const end = digits.length - places;
  const [whole, fraction] = [digits.slice(0, end), digits.slice(end)];
  return WRITINGS.map(([thousands, point]) => {
    const grouped = whole.replaceAll(/\B(?=(?:\d{3})+$)/g, thousands);
    return `${currency} ${sign}${grouped}${places === 0 ? "" : point + fraction} ${currency}`;
  });
}
