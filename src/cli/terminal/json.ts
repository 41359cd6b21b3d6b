import { printableJson } from "./printable.ts";
import { paint, type Span, type Styles } from "./styles.ts";

/** One line, for pipes and streams. */
export function compactJson(value: unknown): string {
  return printableJson(JSON.stringify(value));
}

/** Returns a value in which each text, at any depth, is replaced. */
export function mapTexts<Value>(value: Value, replace: (text: string) => string): Value {
  const json = JSON.stringify(value, (_name, member: unknown) =>
    typeof member === "string" ? replace(member) : member,
  );
  return JSON.parse(json) as Value;
}

/** Indented and colored, for people. */
export function prettyJson(value: unknown, styles: Styles): string {
  return printableJson(JSON.stringify(value, undefined, 2))
    .split("\n")
    .map((line) => paint(jsonSpans(line), styles))
    .join("\n");
}

/** A line of indented JSON is an optional key, then a value or a bracket, then an optional comma. */
const LINE = /^(\s*)("(?:[^"\\]|\\.)*": )?(.*?)(,?)$/s;

/** Returns a line of indented JSON in pieces. */
export function jsonSpans(line: string): Span[] {
  const [, indent = "", key, value = "", comma = ""] = LINE.exec(line) ?? [];
  const shownKey: Span[] = key === undefined ? [] : [[key.slice(0, -2), "accent"], [": "]];
  return [[indent], ...shownKey, [value, styleOf(value)], [comma]];
}

function styleOf(value: string): Span[1] {
  if (value.startsWith('"')) return "good";
  if (value === "null") return "dim";
  return /^(true|false|-?\d)/.test(value) ? "warn" : undefined;
}
