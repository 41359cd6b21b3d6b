import { valueAt } from "../../contract/json.ts";
import { withArticle } from "../../contract/resources.ts";
import { UsageError } from "../errors.ts";
import { printable } from "./printable.ts";
import type { Styles } from "./styles.ts";

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
  style?: keyof Styles;
  /** Returns the style of the text, which may have been cut. */
  styleOf?(text: string, item: Item): keyof Styles | undefined;
  align?: "right";
  /** May be cut with an ellipsis on a narrow terminal, at its end or in its middle. IDs never are: users copy them. */
  shrinks?: boolean | "middle";
  /** A list, separated by commas: it wraps after these before anything is cut. */
  wraps?: boolean;
  /** True if a narrow terminal drops it first. */
  optional?: boolean;
}

/** How a resource is shown. `fields` are the names for `--fields`. */
export interface ResourceView<Item> {
  noun: string;
  /** The noun for several (default: the noun with an s). */
  plural?: string;
  fields: readonly string[];
  /** The field that identifies an object, which `--quiet` prints (default: `id`). */
  key?: string;
  /** The columns of a list; absent for what is never listed. */
  columns?: readonly Column<Item>[];
  /** The lines about one object; absent for what is only listed. */
  details?: readonly Column<Item>[];
  /** A part of an object that is shown as JSON below its details. */
  block?: { label: string; value(item: Item): unknown };
}

export function pluralOf({ noun, plural = `${noun}s` }: Pick<ResourceView<unknown>, "noun" | "plural">): string {
  return plural;
}

/** Returns the view of a document that has other lines than `--fields` selects. */
export function documentView<Item>(noun: string, fields: readonly (keyof Item & string)[]): ResourceView<Item> {
  return { noun, fields };
}

/** Returns the view of a document whose fields were checked before. */
export function viewOf<Item extends object>(noun: string, document: Item): ResourceView<Item> {
  return documentView(noun, Object.keys(document) as (keyof Item & string)[]);
}

/** Returns the view of objects with one more field, which those of a list do not have. */
export function withField<Item>(view: ResourceView<Item>, name: string): ResourceView<Item> {
  return { ...view, fields: [...view.fields, name] };
}

/** The names that `--fields` accepts, and the kind of object. It also accepts the labels of a view's lines. */
export type FieldNames = Pick<ResourceView<unknown>, "noun" | "fields"> &
  Partial<Pick<ResourceView<unknown>, "details">>;

/** Returns the name of a column in a pipe. */
export function recordName(label: string): string {
  return label.toLowerCase().replaceAll(" ", "_");
}

/** Returns what a view shows under a name that no field of the API has, such as `environment`. */
function shownAs(name: string, { fields, details = [] }: FieldNames): Column<unknown> | undefined {
  if (fields.includes(name)) return undefined;
  return details.find(({ label }) => recordName(label) === name);
}

/** Throws UsageError if `--fields` contains an unknown one. */
export function assertFields(names: FieldNames, requested: readonly string[]): void {
  const { noun, fields } = names;
  const unknown = requested.find(
    (field) => !fields.includes(field.split(".")[0]!) && shownAs(field, names) === undefined,
  );
  if (unknown === undefined) return;
  const what = noun === "response" ? "The response" : withArticle(noun).replace("a", "A");
  throw new UsageError(`${what} has no field "${unknown}"`, {
    hint: `Fields: ${fields.join(", ")}`,
  });
}

/** Returns the columns of `--fields`: each value as it is in the JSON, or as the view shows it. */
export function columnsOfFields(fields: readonly string[], names: FieldNames): Column<unknown>[] {
  return fields.map((field) => ({
    ...(shownAs(field, names) ?? { text: (item) => textOf(valueAt(item, field)) }),
    label: field,
  }));
}

/** Returns the item with only some of its fields, dotted names included. */
export function pickFields(
  item: unknown,
  fields: readonly string[],
  { names, now }: { names: FieldNames; now: number },
): Record<string, unknown> {
  const valueOf = (field: string): unknown => {
    const column = shownAs(field, names);
    return column === undefined ? valueAt(item, field) : column.text(item, { now, terminal: false }) || null;
  };
  return Object.fromEntries(fields.map((field) => [field, valueOf(field) ?? null]));
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

/** Returns the text of a cell, or a part of it, in the color of its column. */
export function styled<Item>(column: Column<Item>, text: string, item: Item, styles: Styles): string {
  const name = column.style ?? column.styleOf?.(text, item);
  return name === undefined ? text : styles[name](text);
}

/** Returns the line of one item in a pipe. */
export function tabSeparated<Item>(item: Item, columns: readonly Column<Item>[], view: ViewContext): string {
  return columns.map((column) => cellText(column, item, view)).join("\t");
}
