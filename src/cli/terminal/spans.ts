import stringWidth from "string-width";
import { printable } from "./printable.ts";
import type { Span } from "./styles.ts";
import { BREAK } from "./wrap.ts";

const ASCII = /^[\u0020-\u007e]*$/;
const segmenter = new Intl.Segmenter();

/** Returns how many columns a terminal needs for printable text. Measuring text that is not ASCII takes much longer. */
export function widthOf(text: string): number {
  return ASCII.test(text) ? text.length : stringWidth(text);
}

/** Cuts printable text to a width, between graphemes: no emoji or accent is split. Cut text ends in an ellipsis. */
export function cutText(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  return width < 1 ? "" : `${beginning(text, width - 1)}…`;
}

/** Leaves out the middle of a text that is too wide: URLs of one host differ at their ends. */
export function cutMiddle(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  if (width < 1) return "";
  const room = width - 1;
  return `${beginning(text, Math.ceil(room / 2))}…${end(text, Math.floor(room / 2))}`;
}

/** Returns as much of the end of a text as fits. */
function end(text: string, width: number): string {
  const all = [...graphemes(text)];
  let from = all.length;
  for (let used = 0; from > 0; from--) {
    used += widthOf(all[from - 1]!);
    if (used > width) break;
  }
  return all.slice(from).join("");
}

/** Returns as much of a text as fits. */
function beginning(text: string, width: number): string {
  // The next character may be a combining accent.
  if (ASCII.test(text.slice(0, width + 1))) return text.slice(0, width);
  let fitting = "";
  let used = 0;
  for (const grapheme of graphemes(text)) {
    used += widthOf(grapheme);
    if (used > width) break;
    fitting += grapheme;
  }
  return fitting;
}

/** Returns a line of exactly this width: cut with an ellipsis, or padded with spaces. */
export function fitLine(spans: readonly Span[], width: number): Span[] {
  const line: Span[] = [];
  let room = width;
  const total = spans.reduce((sum, [text]) => sum + widthOf(text), 0);
  for (const [text, style] of total > width ? withoutLastSpaces(spans) : spans) {
    const size = widthOf(text);
    if (size <= room) {
      line.push([text, style]);
      room -= size;
      continue;
    }
    const cut = cutText(text, room);
    line.push([cut, style]);
    room -= widthOf(cut);
    break;
  }
  if (room > 0) line.push([" ".repeat(room)]);
  return line;
}

/** Trailing spaces do not need an ellipsis. */
function withoutLastSpaces(spans: readonly Span[]): Span[] {
  const last = spans.findLastIndex(([text]) => text.trim() !== "");
  return spans.slice(0, last + 1).map(([text, style], at) => [at === last ? text.trimEnd() : text, style]);
}

/** Breaks a line between words, or within a word that fits no line. Continuation lines are indented. */
export function wrapLine(spans: readonly Span[], width: number, indent = 0): Span[][] {
  const lines: Span[][] = [];
  let line: Span[] = [];
  let used = 0;
  for (const [text, style] of spans) {
    let part = "";
    const next = (): void => {
      lines.push([...line, [part, style]]);
      line = [[" ".repeat(indent)]];
      part = "";
      used = indent;
    };
    for (const word of text.split(WORD_STARTS)) {
      const size = widthOf(word.trimEnd());
      if (used + size > width && size <= width - indent && used > indent) next();
      for (const grapheme of graphemes(word)) {
        const columns = widthOf(grapheme);
        if (used + columns > width && used > 0) {
          if (grapheme === " ") continue;
          next();
        }
        part += grapheme;
        used += columns;
      }
    }
    line.push([part, style]);
  }
  return [...lines, line];
}

const WORD_STARTS = new RegExp(`(?<=${BREAK.source})(?! )`);

/**
 * Breaks a line with sequences for styles between words, or within a word that fits no line. Styles continue on the next
 * line, and end with each. Continuation lines are indented.
 */
export function wrapStyled(text: string, width: number, indent = 0): string[] {
  const lines: string[] = [];
  let [line, style, used] = ["", "", 0];
  const next = (): void => {
    lines.push(style === "" ? line.trimEnd() : `${line.trimEnd()}${RESET}`);
    [line, used] = [" ".repeat(indent) + style, indent];
  };
  for (const word of text.split(WORD_STARTS)) {
    const size = widthOf(word.replaceAll(STYLE, "").trimEnd());
    if (used > (lines.length > 0 ? indent : 0) && used + size > width) next();
    for (const part of word.split(STYLE_OR_NOT)) {
      if (part.startsWith("\u001b[")) {
        line += part;
        style = RESETS.test(part) ? "" : style + part;
        continue;
      }
      for (const grapheme of graphemes(part)) {
        const columns = widthOf(grapheme);
        if (used + columns > width && grapheme !== " ") next();
        line += grapheme;
        used += columns;
      }
    }
  }
  return [...lines, line];
}

/** Returns a line with sequences for styles that is exactly this wide. Only spaces at its end are cut. */
export function padStyled(line: string, width: number): string {
  const room = width - widthOf(line.replaceAll(STYLE, ""));
  return room >= 0
    ? line + " ".repeat(room)
    : line.replace(new RegExp(` {1,${-room}}(?=(?:\\u001b\\[[\\d;:]*m)*$)`), "");
}

const STYLE = /\u001b\[[\d;:]*m/g;
const STYLE_OR_NOT = /(\u001b\[[\d;:]*m)/;
const RESET = "\u001b[0m";
/** Ends all styles, or the only one that is in use. */
const RESETS = /^\u001b\[(?:0|22|39|)m$/;

/** Yields what users perceive as characters. */
export function* graphemes(text: string): Generator<string> {
  if (ASCII.test(text)) yield* text;
  else for (const { segment } of segmenter.segment(text)) yield segment;
}

/**
 * Returns untrusted text as at most `maxLines` lines (default: all) of at most `width` columns, with its own line breaks.
 * The last line ends in an ellipsis if there was more.
 */
export function foldText(text: string, width: number, maxLines = Infinity): string[] {
  const lines: string[] = [];
  for (const own of text.trimEnd().split(/\r?\n/)) {
    for (const line of wrapStyled(printable(own), width)) {
      if (lines.length === maxLines) return [...lines.slice(0, -1), `${wrapStyled(lines.at(-1)!, width - 1)[0]}…`];
      lines.push(line);
    }
  }
  return lines;
}
