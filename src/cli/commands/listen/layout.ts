import { printable } from "../../terminal/printable.ts";
import { wrapWords } from "../../terminal/wrap.ts";

/** From this width on an event's line has room for everything. */
const WIDE = 80;
const MAX_RESPONSE_LENGTH = 4096;

/** Where things stand in a line. */
export interface Layout {
  /** Columns of the terminal; undefined in a pipe, where lines are as long as they are. */
  readonly width: number | undefined;
  readonly narrow: boolean;
  /** Columns of the status, the type and the duration. */
  readonly status: number;
  readonly type: number;
  readonly timing: number;
  /** Before what belongs to the line above. */
  readonly indent: string;
  readonly fold: Fold | undefined;
}

/** `foldText`, which only a terminal needs: what it measures text with takes long to load. */
export type Fold = (text: string, width: number, maxLines: number) => string[];

const FULL = { narrow: false, status: 8, type: 22, timing: 9, indent: " ".repeat(20) };
const NARROW = { narrow: true, status: 4, type: 21, timing: 7, indent: " ".repeat(9) };

export function layoutFor(width: number | undefined, fold: Fold | undefined): Layout {
  return { ...(width !== undefined && width < WIDE ? NARROW : FULL), width, fold };
}

/** An event's id, its middle left out where there is no room: the end tells events apart. */
export function fitId(id: string, { narrow, width }: Layout): string {
  const room = (width ?? 0) - 45;
  return narrow && id.length > room ? `evt_…${id.slice(-Math.max(room - 5, 4))}` : id;
}

/** Words as indented lines. */
export function indented(text: string, { indent, width }: Layout): string[] {
  const safe = printable(text);
  const lines = width === undefined ? [safe] : wrapWords(safe, Math.max(width - indent.length, 20));
  return lines.map((line) => indent + line);
}

/** The beginning of a reply as indented lines, its own line breaks kept on a terminal. */
export function replyLines(reply: string, { indent, width, fold }: Layout): string[] {
  const shown = reply.slice(0, MAX_RESPONSE_LENGTH);
  if (shown.trim() === "") return [];
  if (width === undefined || fold === undefined) return [indent + printable(shown)];
  const room = Math.max(width - indent.length, 20);
  return fold(shown, room, MAX_RESPONSE_LENGTH).map((line) => indent + line);
}

/** A name and words beside it, further lines below the words. */
export function labelled(label: string, text: string, { width }: Layout): string[] {
  const start = `  ${label.padEnd(9)}`;
  const lines = width === undefined ? [text] : wrapWords(text, Math.max(width - start.length, 20));
  return lines.map((line, i) => (i === 0 ? start : " ".repeat(start.length)) + line);
}
