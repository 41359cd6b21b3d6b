import type { TSchema } from "typebox";
import type { FieldError } from "../../contract/schemas/problem.ts";
import { nearest } from "../../contract/nearest.ts";

/** Maximum number of errors of one kind in a response. */
export const MAX_ERRORS = 8;
const MAX_NAME_LENGTH = 100;

/** The keywords of JSON Schema that limit the size of a value. */
interface Shape {
  type?: string;
  anyOf?: Shape[];
  properties?: Record<string, Shape>;
  patternProperties?: Record<string, Shape>;
  additionalProperties?: unknown;
  maxProperties?: number;
  items?: Shape;
  maxItems?: number;
  maxLength?: number;
}

/** Returns the pointer to a value. Called only for errors. */
type Pointer = () => string;

/** Adds what exceeds a schema to a list. */
type Inspect = (value: unknown, pointer: Pointer, found: FieldError[]) => void;

/**
 * Returns a function that returns what exceeds a schema: unknown fields, too many items or keys, and texts that are too
 * long. Checked before the schema library checks formats and duplicates, which would take long for such values. Its list
 * of errors also stops after a few, which unknown fields could fill.
 */
export function compileExcess(schema: TSchema): (value: unknown) => FieldError[] {
  const inspect = inspectOf(schema);
  return (value) => {
    const found: FieldError[] = [];
    inspect(value, () => "", found);
    return found;
  };
}

function inspectOf(given: Shape): Inspect {
  const shape = given.anyOf?.find(({ type }) => type !== "null") ?? given;
  const { maxLength = Number.POSITIVE_INFINITY } = shape;
  const inspectItems = inspectItemsOf(shape);
  const inspectFields = inspectFieldsOf(shape);
  return (value, pointer, found) => {
    if (typeof value === "string") {
      if (isLonger(value, maxLength)) found.push(tooLong(pointer(), maxLength));
    } else if (Array.isArray(value)) inspectItems(value, pointer, found);
    else if (typeof value === "object" && value !== null) inspectFields(value, pointer, found);
  };
}

function inspectItemsOf({ items, maxItems = Number.POSITIVE_INFINITY }: Shape) {
  const inspect = items && inspectOf(items);
  return (list: readonly unknown[], pointer: Pointer, found: FieldError[]) => {
    if (list.length > maxItems) found.push(tooMany(pointer(), `${maxItems} items`));
    else if (inspect !== undefined) {
      for (const [index, item] of list.entries()) inspect(item, () => `${pointer()}/${index}`, found);
    }
  };
}

function inspectFieldsOf({
  properties = {},
  patternProperties = {},
  additionalProperties,
  maxProperties = Number.POSITIVE_INFINITY,
}: Shape) {
  const known = Object.entries(properties).map(([name, inner]) => ({ name, inspect: inspectOf(inner) }));
  const patterns = Object.keys(patternProperties).map((pattern) => new RegExp(pattern, "u"));
  const ofAnyName = Object.values(patternProperties)
    // There may be many values of any kind, which have no limits to check.
    .filter((inner) => Object.keys(inner).length > 0)
    .map(inspectOf);
  return (value: object, pointer: Pointer, found: FieldError[]) => {
    const names = Object.keys(value);
    if (names.length > maxProperties) return void found.push(tooMany(pointer(), `${maxProperties} keys`));
    if (additionalProperties === false) {
      const isUnknown = (name: string) =>
        !Object.hasOwn(properties, name) && !patterns.some((pattern) => pattern.test(name));
      const unknown = names.filter(isUnknown).slice(0, MAX_ERRORS);
      for (const name of unknown) found.push(unknownField(pointer(), name, Object.keys(properties)));
    }
    const inspectField = (inspect: Inspect, name: string) =>
      inspect((value as Record<string, unknown>)[name], () => pointerTo(pointer(), name), found);
    for (const { name, inspect } of known) if (Object.hasOwn(value, name)) inspectField(inspect, name);
    for (const inspect of ofAnyName) for (const name of names) inspectField(inspect, name);
  };
}

function unknownField(pointer: string, name: string, knownFields: readonly string[]): FieldError {
  const fieldPointer = pointerTo(pointer, name);
  if (pointer === "/metadata") {
    return { pointer: fieldPointer, code: "invalid_key", detail: "a metadata key must have 1 to 40 characters" };
  }
  const [guess] = nearest(name, knownFields);
  const help = guess === undefined ? `known fields: ${knownFields.join(", ") || "none"}` : `did you mean ${guess}?`;
  return { pointer: fieldPointer, code: "unknown_field", detail: `is not a field of this request; ${help}` };
}

function pointerTo(pointer: string, name: string): string {
  const shown = name.length > MAX_NAME_LENGTH ? `${name.slice(0, MAX_NAME_LENGTH)}…` : name;
  return `${pointer}/${escapePointer(shown)}`;
}

/** Counts as the schema library does: by code points. A text has at least half as many code points as code units. */
function isLonger(text: string, maxLength: number): boolean {
  if (text.length <= maxLength) return false;
  return text.length > 2 * maxLength || Array.from(text).length > maxLength;
}

function tooLong(pointer: string, maxLength: number): FieldError {
  return { pointer, code: "too_long", detail: `must have at most ${maxLength} characters` };
}

function tooMany(pointer: string, limit: string): FieldError {
  return { pointer, code: "too_many", detail: `must have at most ${limit}` };
}

/** Returns a name as a part of a JSON pointer (RFC 6901). */
export function escapePointer(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}
