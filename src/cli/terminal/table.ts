import stringWidth from "string-width";
import { printable } from "./printable.ts";
import type { Styles } from "./styles.ts";
import type { Column, ViewContext } from "./view.ts";

const GAP = "  ";
const LEAST_WIDTH = 8;

interface Cells<Item> {
  column: Column<Item>;
  texts: string[];
  width: number;
}

/** A borderless table that fits the terminal: columns shrink first, then the optional ones go. */
export function renderTable<Item>(
  items: readonly Item[],
  columns: readonly Column<Item>[],
  { styles, width, view }: { styles: Styles; width: number; view: ViewContext },
): string[] {
  const all = columns.map((column): Cells<Item> => {
    const texts = items.map((item) => printable(column.text(item, view)));
    return { column, texts, width: Math.max(stringWidth(column.label), ...texts.map((text) => stringWidth(text))) };
  });
  const cells = fit(all, width);
  const header = cells.map((cell) => styles.dim(pad(cell.column.label.toUpperCase(), cell)));
  const rows = items.map((item, row) =>
    cells.map((cell) => {
      const text = pad(cut(cell.texts[row]!, cell.width), cell);
      return cell.column.style?.(text, styles, item) ?? text;
    }),
  );
  return [header, ...rows].map((line) => line.join(GAP).trimEnd());
}

/** Takes width from the widest column that may shrink; where none is left, drops the last optional column and starts over. */
function fit<Item>(all: readonly Cells<Item>[], width: number): Cells<Item>[] {
  const cells = all.map((cell) => ({ ...cell }));
  let excess = cells.reduce((sum, cell) => sum + cell.width + GAP.length, -GAP.length) - width;
  while (excess > 0) {
    const widest = cells
      .filter(({ column, width }) => column.shrinks === true && width > LEAST_WIDTH)
      .sort((a, b) => b.width - a.width)[0];
    if (widest === undefined) {
      const dropped = all.findLast(({ column }) => column.optional === true);
      return dropped === undefined
        ? cells
        : fit(
            all.filter((cell) => cell !== dropped),
            width,
          );
    }
    widest.width -= 1;
    excess -= 1;
  }
  return cells;
}

function pad<Item>(text: string, { column, width }: Cells<Item>): string {
  const space = " ".repeat(Math.max(0, width - stringWidth(text)));
  return column.align === "right" ? space + text : text + space;
}

/** Cuts by what a terminal shows as one character, so that no emoji or accent is split. */
function cut(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  let kept = "";
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    if (stringWidth(kept + segment) > width - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}
