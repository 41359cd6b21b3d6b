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

/**
 * Returns what exceeds a schema: unknown fields, too many items or keys, and texts that are too long. Checked before
 * the schema library checks formats and duplicates, which would take long for such values. Its list of errors also
 * stops after a few, which unknown fields could fill.
 */
export function excessOf(schema: TSchema, value: unknown): FieldError[] {
  return [...excessIn(schema, value, "")];
}

function* excessIn(given: Shape, value: unknown, pointer: string): Generator<FieldError> {
  const shape = given.anyOf?.find(({ type }) => type !== "null") ?? given;
  if (Array.isArray(value)) {
    const { items, maxItems = Number.POSITIVE_INFINITY } = shape;
    if (value.length > maxItems) return yield tooMany(pointer, `${maxItems} items`);
    if (items === undefined) return;
    for (const [index, item] of value.entries()) yield* excessIn(items, item, `${pointer}/${index}`);
    return;
  }
  if (typeof value === "string") {
    if (shape.maxLength !== undefined && isLonger(value, shape.maxLength)) yield tooLong(pointer, shape.maxLength);
    return;
  }
  if (typeof value !== "object" || value === null) return;
  const { properties = {}, patternProperties = {}, maxProperties = Number.POSITIVE_INFINITY } = shape;
  const names = Object.keys(value);
  if (names.length > maxProperties) return yield tooMany(pointer, `${maxProperties} keys`);
  if (shape.additionalProperties === false) yield* unknownFields(shape, names, pointer);
  const within = (name: string, inner: Shape) =>
    excessIn(inner, (value as Record<string, unknown>)[name], pointerTo(pointer, name));
  for (const [name, inner] of Object.entries(properties)) if (Object.hasOwn(value, name)) yield* within(name, inner);
  for (const inner of Object.values(patternProperties)) {
    // There may be many values of any kind, which have no limits to check.
    if (Object.keys(inner).length > 0) for (const name of names) yield* within(name, inner);
  }
}

function* unknownFields(
  { properties = {}, patternProperties = {} }: Shape,
  names: readonly string[],
  pointer: string,
): Generator<FieldError> {
  const patterns = Object.keys(patternProperties).map((pattern) => new RegExp(pattern, "u"));
  let count = 0;
  for (const name of names) {
    if (Object.hasOwn(properties, name) || patterns.some((pattern) => pattern.test(name))) continue;
    yield unknownField(pointer, name, Object.keys(properties));
    if (++count === MAX_ERRORS) return;
  }
}

function unknownField(pointer: string, name: string, known: readonly string[]): FieldError {
  const fieldPointer = pointerTo(pointer, name);
  if (pointer === "/metadata") {
    return { pointer: fieldPointer, code: "invalid_key", detail: "a metadata key must have 1 to 40 characters" };
  }
  const [guess] = nearest(name, known);
  const help = guess === undefined ? `known fields: ${known.join(", ") || "none"}` : `did you mean ${guess}?`;
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
