import type { Row } from "./history.ts";
import { tagsOf } from "./row.ts";

/**
 * Returns a test for rows that contain every word in event type, ID, notes, status, payload or response. A word after
 * `!` must not occur. Case is ignored. Returns undefined for a filter without words.
 */
export function filterOf(text: string): ((row: Row) => boolean) | undefined {
  const words = text.split(/\s+/).filter((word) => word !== "" && word !== "!");
  if (words.length === 0) return undefined;
  const conditions = words.map((word) => {
    const isExcluded = word.startsWith("!");
    const pattern = (isExcluded ? word.slice(1) : word).replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
    return { isExcluded, pattern: new RegExp(pattern, "i") };
  });
  // Payloads may be large, and rows are filtered for each frame.
  const cache = new WeakMap<Row, { version: number; matches: boolean }>();
  return (row) => {
    const earlier = cache.get(row);
    if (earlier?.version === row.version) return earlier.matches;
    const texts = textsOf(row);
    const matches = conditions.every(
      ({ isExcluded, pattern }) => texts.some((part) => pattern.test(part)) !== isExcluded,
    );
    cache.set(row, { version: row.version, matches });
    return matches;
  };
}

function textsOf(row: Row): string[] {
  const { event, outcome } = row;
  const texts = [event.type, event.id, event.body, tagsOf(row)];
  if (outcome !== undefined) texts.push(String(outcome.status ?? outcome.failure?.code), outcome.excerpt);
  return texts;
}
