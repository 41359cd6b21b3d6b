import { isRecord } from "../contract/json.ts";
import { OBJECT_SHAPES, RESPONSE_SHAPES } from "./response-shapes.ts";

/**
 * What a value must be: a type, `=customer` for this text, a named shape, a list (`[]`), an object with these members
 * (`?` after the name of an optional one), or one of several shapes.
 */
type Shape = string | readonly Shape[] | { readonly [member: string]: Shape };

/** A value that a response lacks. */
interface Lack {
  expected: string;
  /** `data[0].created`; empty for the whole response. */
  place: string;
}

const NAMED: Readonly<Record<string, string>> = OBJECT_SHAPES;
const parsed = new Map<string, Shape>();

function shapeOf(json: string): Shape {
  const shape = parsed.get(json) ?? (JSON.parse(json) as Shape);
  parsed.set(json, shape);
  return shape;
}

/** Returns the names of the members that every response with a schema has, in their order. */
export function memberNamesOf(schema: keyof typeof OBJECT_SHAPES): string[] {
  return Object.keys(shapeOf(OBJECT_SHAPES[schema])).filter((name) => !name.endsWith("?"));
}

/** Returns the names of the members of the response of an operation; undefined for another path, and for other shapes. */
export function memberNamesOfResponse(method: string, path: string): string[] | undefined {
  const shape = responseShape(method, path);
  const whole = typeof shape === "string" && NAMED[shape] !== undefined ? shapeOf(NAMED[shape]) : shape;
  if (whole === undefined || typeof whole === "string" || isUnion(whole) || whole["[]"] !== undefined) return undefined;
  return Object.keys(whole).map((name) => name.replace(/\?$/, ""));
}

function responseShape(method: string, path: string): Shape | undefined {
  const [name] = path.split("?", 1) as [string];
  const template = name.replace(/^(\/v1\/[^/]+\/)[^/]+/, "$1{id}");
  const shape = RESPONSE_SHAPES[`${method} ${name}`] ?? RESPONSE_SHAPES[`${method} ${template}`];
  return shape === undefined ? undefined : shapeOf(shape);
}

/**
 * Returns what a response lacks of what the contract promises, such as `has no number at offset_seconds`. The platform
 * may be of another version: further members and new values of enumerations are fine, and nullable members that an
 * earlier platform does not have become null.
 */
export function completeResponse(method: string, path: string, body: unknown): string | undefined {
  const shape = responseShape(method, path);
  const lack = shape === undefined ? undefined : findLack(body, shape, "");
  if (lack === undefined) return undefined;
  return lack.place === "" ? `is not an ${lack.expected}` : `has no ${lack.expected} at ${lack.place}`;
}

function findLack(value: unknown, shape: Shape, place: string): Lack | undefined {
  if (typeof shape === "string") {
    const named = NAMED[shape];
    if (named !== undefined) return findLack(value, shapeOf(named), place);
    return isOf(shape, value) ? undefined : { expected: shape.replace(/^=(.*)$/, '"$1"'), place };
  }
  if (isUnion(shape)) {
    const lacks = shape.map((one) => findLack(value, one, place));
    return lacks.includes(undefined) ? undefined : lacks[0];
  }
  if (shape["[]"] !== undefined) return findLackInList(value, shape["[]"], place);
  if (!isRecord(value)) return { expected: "object", place };
  for (const [name, member] of Object.entries(shape)) {
    const key = name.replace(/\?$/, "");
    if (value[key] === undefined) {
      if (key !== name) continue;
      if (isNullable(member)) value[key] = null;
    }
    const lack = findLack(value[key], member, place === "" ? key : `${place}.${key}`);
    if (lack !== undefined) return lack;
  }
  return undefined;
}

function findLackInList(value: unknown, items: Shape, place: string): Lack | undefined {
  if (!Array.isArray(value)) return { expected: "list", place };
  for (const [index, item] of value.entries()) {
    const lack = findLack(item, items, `${place}[${index}]`);
    if (lack !== undefined) return lack;
  }
  return undefined;
}

function isNullable(shape: Shape): boolean {
  return typeof shape !== "string" && isUnion(shape) && shape.includes("null");
}

function isUnion(shape: Exclude<Shape, string>): shape is readonly Shape[] {
  return Array.isArray(shape);
}

/** Commands print IDs, and suggest them in commands. */
const ID = /^[\w-]{1,200}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

function isOf(type: string, value: unknown): boolean {
  switch (type) {
    case "null":
      return value === null;
    case "object":
      return isRecord(value);
    case "ID":
      return typeof value === "string" && ID.test(value);
    case "time":
      return typeof value === "string" && TIME.test(value) && !Number.isNaN(Date.parse(value));
    case "string":
    case "number":
    case "boolean":
      return typeof value === type;
    default:
      return value === type.slice(1);
  }
}
