import { type Document, LineCounter, parseDocument } from "yaml";

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
  /** Returns the place of an offset in the text. */
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
    const [reason = ""] = error.message.split("\n");
    const isTooDeep = reason.startsWith("Maximum call stack size exceeded");
    const { line, col } = error.linePos?.[0] ?? { line: 1, col: 1 };
    throw new YamlError(
      isTooDeep ? "nested too deeply" : reason.replace(/ at line.*$/, ""),
      { line, column: col },
      error,
    );
  }
  try {
    return { document, value: document.toJS(), placeOf };
  } catch (error) {
    throw new YamlError("unresolvable aliases", { line: 1, column: 1 }, error);
  }
}
