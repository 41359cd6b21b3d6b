import { compactJson, prettyJson } from "./json.ts";
import { printable } from "./printable.ts";
import type { Styles } from "./styles.ts";
import { type Column, type ResourceView, tabSeparated, type ViewContext } from "./view.ts";

type Block<Item> = ResourceView<Item>["block"];

/** One object on a terminal: a line a detail, labels aligned. */
export function detailLines<Item>(
  item: Item,
  columns: readonly Column<Item>[],
  block: Block<Item>,
  { styles, view }: { styles: Styles; view: ViewContext },
): string[] {
  const width = Math.max(...columns.map(({ label }) => label.length));
  const lines = columns.map((column) => {
    const text = printable(column.text(item, view));
    const shown = text === "" ? styles.dim("–") : (column.style?.(text, styles, item) ?? text);
    return `${styles.dim(column.label.padEnd(width))}  ${shown}`;
  });
  if (block === undefined) return lines;
  return [...lines, "", styles.dim(block.label), prettyJson(block.value(item), styles)];
}

/** One object in a pipe: name and value, separated by a tab. */
export function detailRecords<Item>(
  item: Item,
  columns: readonly Column<Item>[],
  block: Block<Item>,
  view: ViewContext,
): string[] {
  const records = columns.map((column) => `${recordName(column.label)}\t${tabSeparated(item, [column], view)}`);
  return block === undefined ? records : [...records, `${recordName(block.label)}\t${compactJson(block.value(item))}`];
}

function recordName(label: string): string {
  return label.toLowerCase().replaceAll(" ", "_");
}
