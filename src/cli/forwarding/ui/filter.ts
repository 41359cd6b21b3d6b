import { beginsLabel, labelOfFailure } from "../../../contract/failure-labels.ts";
import type { Row } from "./history.ts";
import { tagsOf } from "./row.ts";

/** Where a word with this prefix is looked for. */
const PLACES: Readonly<Record<string, (row: Row) => string[]>> = {
  type: ({ event }) => [event.type],
  id: ({ event }) => [event.id],
  status: statusOf,
  body: bodiesOf,
};

/** One line that explains what a filter can say. */
export const FILTER_SYNTAX = `words, or ${Object.keys(PLACES)
  .map((key) => `${key}:`)
  .join(" ")} to name where; ! excludes: !status:2`;

/** The beginning of a status, or a class of statuses: 4, 40, 4xx. */
const STATUS = /^[1-5](\d{0,2}|\dx|xx?)$/i;

/** Returns why a filter cannot match anything, such as an unknown key. */
export function filterProblem(text: string): string | undefined {
  for (const word of text.split(/\s+/)) {
    const [, key = "", value = ""] = /^!?([a-z_.]+):(.*)$/i.exec(word) ?? [];
    if (key === "") continue;
    // Payloads contain `https://…` and `"key":"value"`.
    if (!(key in PLACES) && value !== "" && !value.startsWith("/") && !value.startsWith('"')) {
      return `Unknown key "${key}". Keys: ${Object.keys(PLACES).join(", ")}`;
    }
    if (key in PLACES && value === "") return `Write a value after "${key}:"`;
    if (key === "status" && !STATUS.test(value) && !beginsLabel(value)) return `No status begins with "${value}"`;
  }
  return undefined;
}

/**
 * Returns a test for rows that contain every word in event type, ID, notes, status, or a value of payload or response. A
 * word after `!` must not occur in the columns of the list. `type:`, `status:`, `id:` and `body:` name the place. Case is
 * ignored.
 * Returns undefined for a filter without words.
 */
export function filterOf(text: string): ((row: Row) => boolean) | undefined {
  const words = text.split(/\s+/).filter((word) => word !== "" && word !== "!");
  if (words.length === 0) return undefined;
  const conditions = words.map((word) => {
    const isExcluded = word.startsWith("!");
    const [, place = "", text = ""] = /^(?:(type|id|status|body):)?(.*)$/s.exec(isExcluded ? word.slice(1) : word)!;
    const textsOf = PLACES[place] ?? (isExcluded ? columnsOf : everythingOf);
    const pattern = text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
    const start = `^${STATUS.test(text) ? pattern.replace(/x+$/i, "") : pattern}`;
    return { isExcluded, textsOf, pattern: new RegExp(place === "status" ? start : pattern, "i") };
  });
  // Payloads may be large, and rows are filtered for each frame.
  const cache = new WeakMap<Row, { version: number; matches: boolean }>();
  return (row) => {
    const earlier = cache.get(row);
    if (earlier?.version === row.version) return earlier.matches;
    const matches = conditions.every(
      ({ isExcluded, textsOf, pattern }) => textsOf(row).some((part) => pattern.test(part)) !== isExcluded,
    );
    cache.set(row, { version: row.version, matches });
    return matches;
  };
}

function statusOf({ outcome }: Row): string[] {
  return outcome === undefined ? [] : [String(outcome.status ?? labelOfFailure(outcome.failure?.code))];
}

function bodiesOf({ event, outcome }: Row): string[] {
  return outcome === undefined ? [event.body] : [event.body, outcome.excerpt];
}

function columnsOf(row: Row): string[] {
  return [row.event.type, row.event.id, tagsOf(row), ...statusOf(row)];
}

/** A name of a field that every payload contains would match every row. */
function everythingOf(row: Row): string[] {
  return [...columnsOf(row), ...bodiesOf(row).map((body) => body.replaceAll(/"(?:[^"\\]|\\.)*"\s*:/gs, ""))];
}
