import { randomUUID } from "node:crypto";

/** Returns valid JSON with each string and number replaced. A pattern of whole strings would overflow the stack. */
export function replaceTokens(json: string, replace: (token: string, start: number) => string): string {
  const parts: string[] = [];
  let end = 0;
  for (;;) {
    TOKEN_START.lastIndex = end;
    const match = TOKEN_START.exec(json);
    if (match === null) return parts.join("") + json.slice(end);
    const { index, 0: text } = match;
    parts.push(json.slice(end, index));
    end = text === '"' ? endOfString(json, index) : index + text.length;
    parts.push(replace(json.slice(index, end), index));
  }
}

const TOKEN_START = /"|-?\d[\d.eE+-]*/g;

function endOfString(json: string, start: number): number {
  for (let at = json.indexOf('"', start + 1); at !== -1; at = json.indexOf('"', at + 1)) {
    let before = at - 1;
    while (json[before] === "\\") before -= 1;
    if ((at - before) % 2 === 1) return at + 1;
  }
  return json.length;
}

/** Returns JSON after a change. Numbers stay as they are written: JavaScript would round those above 2^53. */
export function rewriteJson(
  json: string,
  change: (value: unknown) => unknown,
  indentation: string | number = 0,
): string {
  JSON.parse(json);
  const mark = randomUUID();
  const numbers: string[] = [];
  const marked = replaceTokens(json, (token) =>
    token.startsWith('"') ? token : `"${mark}${numbers.push(token) - 1}"`,
  );
  const changed = JSON.stringify(change(JSON.parse(marked)), undefined, indentation);
  return changed.replaceAll(new RegExp(`"${mark}(\\d+)"`, "g"), (_marked, index: string) => numbers[Number(index)]!);
}
