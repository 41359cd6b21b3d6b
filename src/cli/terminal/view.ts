import { valueAt } from "../../contract/json.ts";
import { withArticle } from "../../contract/resources.ts";
import { UsageError } from "../errors.ts";
import { printable } from "./printable.ts";
import type { Styles } from "./styles.ts";

/** What a view may depend on. */
export interface ViewContext {
  /** Unix milliseconds. */
  now: number;
  /** True on a terminal; false in a pipe, where every value is printed as in the API. */
  terminal: boolean;
}

/** One column of a table, or one line of a single object's view. */
export interface Column<Item> {
  label: string;
  text(item: Item, view: ViewContext): string;
  /** Colors the text, which may have been cut. */
  style?(text: string, styles: Styles, item: Item): string;
  align?: "right";
  /** May be cut with an ellipsis on a narrow terminal, at its end or in its middle. IDs never are: users copy them. */
  shrinks?: boolean | "middle";
  /** A list, separated by commas: it wraps after these before anything is cut. */
  wraps?: boolean;
  /** Dropped first on a narrow terminal. */
  optional?: boolean;
}

/** How a resource is shown. `fields` are the names for `--fields`. */
export interface ResourceView<Item> {
  noun: string;
  plural: string;
  fields: readonly string[];
  columns: readonly Column<Item>[];
  details: readonly Column<Item>[];
  /** A part of an object that is shown as JSON below its details. */
  block?: { label: string; value(item: Item): unknown };
}

/** The names for `--fields`, and of which kind of object. */
export type FieldNames = Pick<ResourceView<unknown>, "noun" | "fields">;

/** Throws UsageError if `--fields` contains an unknown one. */
export function assertFields({ noun, fields }: FieldNames, requested: readonly string[]): void {
  const unknown = requested.find((field) => !fields.includes(field.split(".")[0]!));
  if (unknown === undefined) return;
  const what = noun === "response" ? "The response" : withArticle(noun).replace("a", "A");
  throw new UsageError(`${what} has no field "${unknown}"`, {
    hint: `Fields: ${fields.join(", ")}`,
  });
}

/** Returns the columns of `--fields`: each value as it is in the JSON. */
export function columnsOfFields(fields: readonly string[]): Column<unknown>[] {
  return fields.map((field) => ({ label: field, text: (item) => textOf(valueAt(item, field)) }));
}

/** Returns the item with only some of its fields, dotted names included. */
export function pickFields(item: unknown, fields: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(fields.map((field) => [field, valueAt(item, field) ?? null]));
}

/** Returns any JSON value as one line of text. */
export function textOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return value;
  return JSON.stringify(value);
}

/** Returns the text of one cell, safe to print. A platform of another version may omit required fields. */
export function cellText<Item>(column: Column<Item>, item: Item, view: ViewContext): string {
  return printable(textOf(column.text(item, view)));
}

/** Returns the line of one item in a pipe. */
export function tabSeparated<Item>(item: Item, columns: readonly Column<Item>[], view: ViewContext): string {
  return columns.map((column) => cellText(column, item, view)).join("\t");
}
