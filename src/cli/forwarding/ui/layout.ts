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
/** At this height or more, the last lines of the log are below the list, or below the details. */
const LOG_BELOW_ROWS = { list: 12, details: 24, help: Infinity, log: Infinity };
const LOG_SHARE = 1 / 3;

/** What the screen shows below the totals. */
export type View = "list" | "details" | "help" | "log";

/** Returns the positions of the parts of the screen. */
export function layoutOf({ columns, rows }: Size, view: View, hasLog: boolean) {
  const body = Math.max(rows - FIXED_ROWS, 1);
  const logRows = hasLog && body >= LOG_BELOW_ROWS[view] ? Math.floor(body * LOG_SHARE) : 0;
  const height = body - logRows;
  const isSplit = view === "details" && columns >= SPLIT_COLUMNS;
  const listWidth = isSplit ? Math.min(Math.floor(columns * LIST_SHARE), MAX_LIST_COLUMNS) : columns;
  return {
    list: { width: listWidth, height },
    /** The details, the help or the whole log. One column separates them, and one on the left is empty. */
    pane: { width: (isSplit ? columns - listWidth - 1 : columns) - 2, height },
    /** Lines for the end of the log, its title included. */
    logRows,
    isSplit,
  };
}
