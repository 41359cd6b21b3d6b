/** Where text may be broken: not between a number and its unit. */
export const BREAK = / (?<!\d (?=(?:ms|s|min|h|d|KB|MB|KiB|MiB)\b))/;

/** Breaks text between words so that lines fit a width. A longer word is on a line of its own. */
export function wrapWords(text: string, width: number): string[] {
  return wrap(text.split(BREAK), width);
}

/**
 * Breaks a hint that is too long: a command at its end gets a line of its own, to be copied, and one in backticks stays
 * whole. `runnable` replaces `service` by what starts this program.
 */
export function wrapHint(text: string, width: number | undefined, runnable: (text: string) => string): string[] {
  const whole = runnable(text);
  if (width === undefined || whole.length <= width || text.startsWith(" ")) return [whole];
  return text.split(/(?<=\.) (?=[A-Z])/).flatMap((sentence) => {
    const shown = runnable(sentence);
    if (shown.length <= width) return [shown];
    const [, before = sentence] = /^(.*:) service [a-z].*$/.exec(sentence) ?? [];
    const start = runnable(before);
    const lines = wrap(start.match(/`[^`]*`\S*|\S+/g) ?? [], width);
    return before === sentence ? lines : [...lines, `  ${shown.slice(start.length + 1)}`];
  });
}

/** Returns a sentence after a styled mark such as `Error:`, wrapped if a terminal's width is given. */
export function wrapAfter(
  mark: string,
  text: string,
  { width, style }: { width: number | undefined; style: (mark: string) => string },
): string {
  if (width === undefined) return `${style(mark)} ${text}`;
  const [first = "", ...rest] = wrapWords(`${mark} ${text}`, width);
  return [first.replace(mark, () => style(mark)), ...rest].join("\n");
}

/** Returns an example without its comment, and the comment if it has one. */
export function commentedExample(example: string): { typed: string; comment: string | undefined } {
  const [, typed = example, comment] = /^(.*\S) (# .*)$/.exec(example) ?? [];
  return { typed, comment };
}

/** Breaks an example before its flags, as a shell accepts it, or between words if that is not enough. */
export function exampleLines(typed: string, width: number): string[] {
  if (typed.length <= width) return [typed];
  // A flag stays with its value, and quoted text in one piece.
  const parts = typed.match(/(?:"[^"]*"|'[^']*'|\s(?!-)|[^\s"'])+/g)!;
  const words = (part: string) => (part.length + 6 > width ? part.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g)! : [part]);
  const lines: string[] = [];
  for (const part of parts.flatMap(words)) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + part.length + 3 <= width) lines[lines.length - 1] = `${last} ${part}`;
    else lines.push(last === undefined ? part : `    ${part}`);
  }
  return lines.map((line, at) => (at === lines.length - 1 ? line : `${line} \\`));
}

/** Breaks a list only after its commas and semicolons. */
export function wrapList(text: string, width: number): string[] {
  return wrap(partsOfList(text), width);
}

/** A part of a list that is never broken. */
export function partsOfList(text: string): string[] {
  return text.split(/(?<=[,;]) /);
}

function wrap(words: readonly string[], width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of words) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}
