import { compactJson, prettyJson } from "./json.ts";
import type { Styles } from "./styles.ts";
import { cellText, type Column, type ResourceView, tabSeparated, type ViewContext } from "./view.ts";
import { wrapWords } from "./wrap.ts";

const MIN_WIDTH = 20;

type Block<Item> = ResourceView<Item>["block"];

/** Renders one object for a terminal: a line per detail, labels aligned. */
export function detailLines<Item>(
  item: Item,
  columns: readonly Column<Item>[],
  block: Block<Item>,
  { styles, view, terminalWidth }: { styles: Styles; view: ViewContext; terminalWidth: number },
): string[] {
  const width = Math.max(...columns.map(({ label }) => label.length));
  const lines = columns.flatMap((column) => {
    const label = `${styles.dim(column.label.padEnd(width))}  `;
    const text = cellText(column, item, view);
    if (text === "") return [label + styles.dim("–")];
    const style = (line: string): string => column.style?.(line, styles, item) ?? line;
    const room = Math.max(MIN_WIDTH, terminalWidth - width - 2);
    return wrapWords(text, room).map((line, i) => (i === 0 ? label : " ".repeat(width + 2)) + style(line));
  });
  if (block === undefined) return lines;
  return [...lines, "", styles.dim(block.label), prettyJson(block.value(item), styles)];
}

/** Renders one object for a pipe: name and value, separated by a tab. */
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
