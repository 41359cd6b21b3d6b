import stringWidth from "string-width";
import { printable } from "./printable.ts";

/**
 * Returns untrusted text as at most `maxLines` lines of at most `width` columns, with its own line breaks. The last
 * line ends in an ellipsis if there was more.
 */
export function foldText(text: string, width: number, maxLines: number): string[] {
  const lines: string[] = [];
  for (const own of text.trimEnd().split(/\r?\n/)) {
    for (const line of foldLine(printable(own), width)) {
      if (lines.length === maxLines) return [...lines.slice(0, -1), withEllipsis(lines.at(-1)!, width)];
      lines.push(line);
    }
  }
  return lines;
}

/** Breaks at spaces, and inside words that are longer than a line: between graphemes. */
function foldLine(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  let used = 0;
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    const size = stringWidth(segment);
    if (used + size > width) {
      const space = segment === " " ? line.length : line.lastIndexOf(" ");
      const end = space > 0 ? space : line.length;
      lines.push(line.slice(0, end));
      line = line.slice(end).trimStart();
      used = stringWidth(line);
      if (segment === " " && line === "") continue;
    }
    line += segment;
    used += size;
  }
  return [...lines, line];
}

function withEllipsis(line: string, width: number): string {
  const [first = ""] = foldLine(line, width - 1);
  return `${first}…`;
}
