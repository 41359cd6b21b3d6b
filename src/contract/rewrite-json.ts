import { randomUUID } from "node:crypto";

const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;

/** Returns JSON after a change. Numbers stay as they are written: JavaScript would round those above 2^53. */
export function rewriteJson(
  json: string,
  change: (value: unknown) => unknown,
  indentation: string | number = 0,
): string {
  JSON.parse(json);
  const mark = randomUUID();
  const numbers: string[] = [];
  const marked = json.replaceAll(STRING_OR_NUMBER, (token) =>
    token.startsWith('"') ? token : `"${mark}${numbers.push(token) - 1}"`,
  );
  const changed = JSON.stringify(change(JSON.parse(marked)), undefined, indentation);
  return changed.replaceAll(new RegExp(`"${mark}(\\d+)"`, "g"), (_marked, index: string) => numbers[Number(index)]!);
}
