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

/** Returns JSON on indented lines, with each token as it is written. Throws SyntaxError. */
export function indentJson(json: string): string {
  JSON.parse(json);
  const parts: string[] = [];
  let depth = 0;
  /** Text before the next token. */
  let space = "";
  let last = "";
  for (TOKEN.lastIndex = 0; ;) {
    const match = TOKEN.exec(json);
    if (match === null) return parts.join("");
    const end = match[0] === '"' ? endOfString(json, match.index) : TOKEN.lastIndex;
    TOKEN.lastIndex = end;
    const token = json.slice(match.index, end);
    const isEnd = token === "}" || token === "]";
    if (isEnd) depth -= 1;
    if (isEnd) space = last === "{" || last === "[" ? "" : `\n${INDENTATION.repeat(depth)}`;
    parts.push(space, token);
    if (token === "{" || token === "[") depth += 1;
    space =
      token === ":" ? " " : token === "," || token === "{" || token === "[" ? `\n${INDENTATION.repeat(depth)}` : "";
    last = token;
  }
}

const TOKEN = /"|[{}[\],:]|[^\s"{}[\],:]+/g;
const INDENTATION = "  ";

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
