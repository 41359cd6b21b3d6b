import stringWidth from "string-width";
import { cutMiddle, cutText } from "./spans.ts";
import type { Styles } from "./styles.ts";
import { cellText, type Column, type ViewContext, styled } from "./view.ts";
import { partsOfList, wrapList } from "./wrap.ts";

const GAP = "  ";
const MIN_COLUMN_WIDTH = 16;
/** Minimum width of the last column, before a row takes several lines. */
const LAST_COLUMN_WIDTH = 12;

interface Cells<Item> {
  column: Column<Item>;
  texts: string[];
  width: number;
}

/**
 * Renders a borderless table that fits the terminal: columns shrink first, then optional ones are dropped. If that is not
 * enough, each row takes several lines, and so does the header.
 */
export function renderTable<Item>(
  items: readonly Item[],
  columns: readonly Column<Item>[],
  { styles, view, terminalWidth }: { styles: Styles; view: ViewContext; terminalWidth: number },
): string[] {
  const all = columns.map((column): Cells<Item> => {
    const texts = items.map((item) => cellText(column, item, view));
    return { column, texts, width: Math.max(stringWidth(column.label), ...texts.map((text) => stringWidth(text))) };
  });
  const fitting = fitColumns(all, terminalWidth);
  const parts = totalWidth(fitting) <= terminalWidth ? [fitting] : splitColumns(all, terminalWidth);
  const render = (linesOfPart: (cells: readonly Cells<Item>[]) => readonly string[][]): string[] =>
    parts.flatMap((cells, part) =>
      linesOfPart(cells).map((line) => ((part === 0 ? "" : GAP) + line.join(GAP)).trimEnd()),
    );
  const header = render((cells) => [
    cells.map((cell) => pad(cell.column.label.toUpperCase(), cell, (text) => styles.dim(text))),
  ]);
  return [...header, ...items.flatMap((item, row) => render((cells) => rowLines(cells, item, row, styles)))];
}

function rowLines<Item>(cells: readonly Cells<Item>[], item: Item, row: number, styles: Styles): string[][] {
  const lines = cells.map(({ column, texts, width }) => (column.wraps ? wrapList(texts[row]!, width) : [texts[row]!]));
  const height = Math.max(...lines.map(({ length }) => length));
  return Array.from({ length: height }, (_, at) =>
    cells.map((cell, column) => {
      const style = (text: string): string => styled(cell.column, text, item, styles);
      const cut = cell.column.shrinks === "middle" ? cutMiddle : cutText;
      return pad(cut(lines[column]![at] ?? "", cell.width), cell, style);
    }),
  );
}

/** Drops empty optional columns, shrinks columns, then drops optional ones from the right. */
function fitColumns<Item>(all: readonly Cells<Item>[], terminalWidth: number): Cells<Item>[] {
  let columns = all.filter(({ column, texts }) => !column.optional || texts.some((text) => text !== ""));
  for (;;) {
    const dropped = columns.findLast(({ column }) => column.optional === true);
    const atCommas = shrink(columns, terminalWidth, unbroken);
    const minWidth = dropped === undefined ? LAST_COLUMN_WIDTH : MIN_COLUMN_WIDTH;
    const shrunk = shrink(atCommas, terminalWidth, () => minWidth);
    if (totalWidth(shrunk) <= terminalWidth || dropped === undefined) return refill(all, shrunk, terminalWidth);
    columns = columns.filter((cell) => cell !== dropped);
  }
}

/** Distributes columns over several lines, of which all but the first are indented. Optional ones get no line of their own. */
function splitColumns<Item>(all: readonly Cells<Item>[], terminalWidth: number): Cells<Item>[][] {
  const parts: Cells<Item>[][] = [];
  let room = 0;
  for (const cell of all) {
    const { column, texts } = cell;
    if (column.optional && (texts.every((text) => text === "") || cell.width > room)) continue;
    const shrinks = Boolean(column.shrinks);
    if (cell.width > room && !(shrinks && room >= MIN_COLUMN_WIDTH)) {
      room = terminalWidth - (parts.length === 0 ? 0 : GAP.length);
      parts.push([]);
    }
    const width = shrinks ? Math.min(cell.width, room) : cell.width;
    parts.at(-1)!.push({ ...cell, width });
    room -= width + GAP.length;
  }
  return parts;
}

/** Takes width from the widest columns that may shrink, until all fit or none can shrink further. */
function shrink<Item>(
  columns: readonly Cells<Item>[],
  terminalWidth: number,
  minWidth: (cells: Cells<Item>) => number,
): Cells<Item>[] {
  const cells = columns.map((cell) => ({ ...cell }));
  for (let excess = totalWidth(cells) - terminalWidth; excess > 0; excess--) {
    const widest = cells
      .filter((cell) => Boolean(cell.column.shrinks) && cell.width > minWidth(cell))
      .sort((a, b) => b.width - a.width)[0];
    if (widest === undefined) return cells;
    widest.width -= 1;
  }
  return cells;
}

/** The width at which nothing in a column is cut. */
function unbroken<Item>({ column, texts, width }: Cells<Item>): number {
  if (column.wraps !== true) return Math.min(width, MIN_COLUMN_WIDTH);
  return Math.max(stringWidth(column.label), ...texts.flatMap(partsOfList).map((part) => stringWidth(part)));
}

/** A narrow column that was dropped before a wide one may fit now. */
function refill<Item>(
  all: readonly Cells<Item>[],
  columns: readonly Cells<Item>[],
  terminalWidth: number,
): Cells<Item>[] {
  return all.reduce<Cells<Item>[]>(
    (cells, candidate) => {
      const own = columns.find(({ column }) => column === candidate.column);
      if (own !== undefined || candidate.texts.every((text) => text === "")) return cells;
      const more = all.flatMap(({ column }) => {
        if (column === candidate.column) return [candidate];
        return cells.filter((cell) => cell.column === column);
      });
      return totalWidth(more) <= terminalWidth ? more : cells;
    },
    [...columns],
  );
}

function totalWidth(cells: readonly { width: number }[]): number {
  return cells.reduce((sum, { width }) => sum + width + GAP.length, -GAP.length);
}

/** Pads to the width of the column. The color ends with the text, so that no line ends in colored space. */
function pad<Item>(text: string, { column, width }: Cells<Item>, style: (text: string) => string): string {
  const space = " ".repeat(Math.max(0, width - stringWidth(text)));
  return column.align === "right" ? space + style(text) : style(text) + space;
}
