import type { Size } from "../../terminal/full-screen.ts";

/** A smaller terminal only has room for a message. */
export const MIN_SIZE: Size = { columns: 40, rows: 10 };
/** At this width or more, the details are next to the list. */
const SPLIT_COLUMNS = 100;
const LIST_SHARE = 0.44;
const MAX_LIST_COLUMNS = 72;
export const MESSAGE_ROWS = 2;
/** Lines above and below: state, totals and titles; message and keys. */
const FIXED_ROWS = 3 + MESSAGE_ROWS + 1;

interface Area {
  width: number;
  height: number;
}

/** The positions of the parts of the screen. */
export interface Layout {
  list: Area;
  /** The details or the help. */
  pane: Area;
  /** True if list and details are side by side. */
  isSplit: boolean;
}

export function layoutOf({ columns, rows }: Size, view: "list" | "details" | "help"): Layout {
  const height = Math.max(rows - FIXED_ROWS, 1);
  const isSplit = view === "details" && columns >= SPLIT_COLUMNS;
  const listWidth = isSplit ? Math.min(Math.floor(columns * LIST_SHARE), MAX_LIST_COLUMNS) : columns;
  return {
    list: { width: listWidth, height },
    // One column separates them, and one on the left is empty.
    pane: { width: (isSplit ? columns - listWidth - 1 : columns) - 2, height },
    isSplit,
  };
}
