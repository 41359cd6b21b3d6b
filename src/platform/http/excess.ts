import type { TSchema } from "typebox";
import type { FieldError } from "../../contract/errors.ts";
import { nearest } from "../../contract/nearest.ts";

/** As many mistakes of this kind are told; the caller has understood by then. */
export const MOST_TOLD = 8;
const MOST_NAME_CHARACTERS = 100;

interface Shape {
  properties?: Record<string, Shape>;
  patternProperties?: Record<string, unknown>;
  additionalProperties?: unknown;
  maxProperties?: number;
  maxItems?: number;
}

/**
 * What stands in a value beyond the room that its schema has: unknown fields, and more items or keys than allowed.
 * Found before the schema library looks, since its list of errors ends after a few, which unknown fields could fill,
 * and since the time it takes for a long list grows with the square of its length.
 */
export function excessOf(schema: TSchema, value: unknown): FieldError[] {
  return [...excessIn(schema, value, "")];
}

function* excessIn(shape: Shape, value: unknown, pointer: string): Generator<FieldError> {
  if (Array.isArray(value)) {
    const { maxItems = Number.POSITIVE_INFINITY } = shape;
    if (value.length > maxItems) yield tooMany(pointer, `${maxItems} items`);
    return;
  }
  if (typeof value !== "object" || value === null) return;
  const { properties = {}, maxProperties = Number.POSITIVE_INFINITY } = shape;
  const names = Object.keys(value);
  if (names.length > maxProperties) return yield tooMany(pointer, `${maxProperties} keys`);
  if (shape.additionalProperties === false) yield* unknownFields(shape, names, pointer);
  for (const [name, inner] of Object.entries(properties)) {
    if (Object.hasOwn(value, name)) {
      yield* excessIn(inner, (value as Record<string, unknown>)[name], `${pointer}/${escapePointer(name)}`);
    }
  }
}

function* unknownFields(
  { properties = {}, patternProperties = {} }: Shape,
  names: readonly string[],
  pointer: string,
): Generator<FieldError> {
  const patterns = Object.keys(patternProperties).map((pattern) => new RegExp(pattern, "u"));
  let told = 0;
  for (const name of names) {
    if (Object.hasOwn(properties, name) || patterns.some((pattern) => pattern.test(name))) continue;
    yield unknownField(pointer, name, Object.keys(properties));
    if (++told === MOST_TOLD) return;
  }
}

function unknownField(pointer: string, name: string, known: readonly string[]): FieldError {
  const shown = name.length > MOST_NAME_CHARACTERS ? `${name.slice(0, MOST_NAME_CHARACTERS)}…` : name;
  const place = `${pointer}/${escapePointer(shown)}`;
  if (pointer === "/metadata") {
    return { pointer: place, code: "invalid_key", detail: "a metadata key has 1 to 40 characters" };
  }
  const [guess] = nearest(name, known);
  const help = guess === undefined ? `known fields: ${known.join(", ") || "none"}` : `did you mean ${guess}?`;
  return { pointer: place, code: "unknown_field", detail: `is not a field of this request; ${help}` };
}

function tooMany(pointer: string, most: string): FieldError {
  return { pointer, code: "too_many", detail: `must have at most ${most}` };
}

/** A name as a part of a JSON pointer (RFC 6901). */
export function escapePointer(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}
