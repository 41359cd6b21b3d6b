import { printableJson } from "./printable.ts";
import type { Styles } from "./styles.ts";

/** One line, for pipes and streams. */
export function compactJson(value: unknown): string {
  return printableJson(JSON.stringify(value));
}

/** Indented and colored, for people. */
export function prettyJson(value: unknown, styles: Styles): string {
  return printableJson(JSON.stringify(value, undefined, 2))
    .split("\n")
    .map((line) => colorLine(line, styles))
    .join("\n");
}

/** A line of indented JSON is an optional key, then a value or a bracket, then an optional comma. */
const LINE = /^(\s*)("(?:[^"\\]|\\.)*": )?(.*?)(,?)$/s;

function colorLine(line: string, styles: Styles): string {
  const [, indent = "", key, value = "", comma = ""] = LINE.exec(line) ?? [];
  const shownKey = key === undefined ? "" : `${styles.accent(key.slice(0, -2))}: `;
  return `${indent}${shownKey}${colorValue(value, styles)}${comma}`;
}

function colorValue(value: string, styles: Styles): string {
  if (value.startsWith('"')) return styles.good(value);
  if (value === "null") return styles.dim(value);
  if (/^(true|false|-?\d)/.test(value)) return styles.warn(value);
  return value;
}
