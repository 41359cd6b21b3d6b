import { type Document, isCollection, isScalar, LineCounter, parseDocument, visit } from "yaml";

/** YAML takes quadratic time in its length, so a longer text is not parsed. */
export const MAX_YAML_BYTES = 64 * 1024;

/** A place in a text; both numbers start at 1. */
interface Place {
  line: number;
  column: number;
}

/** The text is neither YAML nor JSON. */
export class YamlError extends Error {
  override name = "YamlError";
  readonly place: Place;

  constructor(message: string, place: Place, cause: unknown) {
    super(message, { cause });
    this.place = place;
  }
}

export interface ParsedYaml {
  document: Document.Parsed;
  value: unknown;
  placeOf(offset: number): Place;
}

/**
 * Parses YAML, or JSON, which is YAML too. Throws YamlError with the first place that is wrong. Import this module
 * lazily: its parser is large.
 */
export function parseYaml(text: string): ParsedYaml {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: true });
  const placeOf = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const [error] = document.errors;
  if (error !== undefined) {
    const [reason = ""] = error.message.split(/ at line |\n/);
    const open = CLOSING.test(reason) ? unclosed(document, text) : undefined;
    if (open !== undefined) throw new YamlError(`${text[open]} is not closed`, placeOf(open), error);
    const { line, col } = error.linePos?.[0] ?? { line: 1, col: 1 };
    throw new YamlError(inPlainWords(reason), { line, column: col }, error);
  }
  try {
    return { document, value: document.toJS(), placeOf };
  } catch (error) {
    throw new YamlError("unresolvable aliases", { line: 1, column: 1 }, error);
  }
}

/** What the parser says where something is not closed, for which it names the place after that. */
const CLOSING = /^Flow (?:sequence|map) .*must.* end with|^Missing closing/;
const CLOSERS: Readonly<Record<string, string>> = { "[": "]", "{": "}", '"': '"', "'": "'" };

/** Returns where the innermost list, map or quoted text begins that does not end. */
function unclosed(document: Document.Parsed, text: string): number | undefined {
  let found: number | undefined;
  visit(document, (_key, node) => {
    if (!(isCollection(node) || isScalar(node)) || node.range == null) return;
    const [start, end] = node.range;
    const closer = CLOSERS[text[start] ?? ""];
    if (closer !== undefined && (end - start < 2 || text[end - 1] !== closer)) found = start;
  });
  return found;
}

/** The words of the parser's grammar, and what users read instead. */
const PLAIN_WORDS: readonly (readonly [RegExp, string])[] = [
  [/^Maximum call stack size exceeded.*/s, "nested too deeply"],
  [/^Nested mappings are not allowed.*/, 'a value with ": " needs quotes, or the next line is indented too far'],
  [/^Implicit keys need to be on a single line$/, "the colon after a key is missing"],
  [/^Map keys must be unique$/, "this key is already set above"],
  [/^Plain value cannot start with .*(\S)$/, "a value that begins with $1 needs quotes"],
  [/^Source contains multiple documents.*/, "there must be one document only"],
];

function inPlainWords(reason: string): string {
  const known = PLAIN_WORDS.find(([pattern]) => pattern.test(reason));
  return known === undefined ? reason : reason.replace(known[0], known[1]);
}
