import { InvalidArgumentError } from "commander";
import { parseJson, valueAt } from "../../contract/json.ts";
import { UsageError } from "../errors.ts";

/** Keys that no object of the API contains. */
const FORBIDDEN_KEYS: ReadonlySet<string> = new Set(["__proto__", "prototype"]);

/**
 * Returns the object with one more value at a dotted path: `metadata.plan`, `pro`. A value that is valid JSON counts as
 * JSON (numbers, true, null, quoted strings, objects). Anything else is text, including a number with more digits than
 * a double can hold. Throws UsageError for such a number inside an object or array.
 */
export function assign(
  object: Readonly<Record<string, unknown>>,
  path: string,
  value: string,
): Record<string, unknown> {
  return assignAt(object, path.split("."), jsonOrText(value), path);
}

function assignAt(
  object: Readonly<Record<string, unknown>>,
  names: readonly string[],
  value: unknown,
  path: string,
): Record<string, unknown> {
  const [name = "", ...rest] = names;
  if (name === "" || FORBIDDEN_KEYS.has(name)) throw new UsageError(`"${path}" is not a path such as metadata.plan`);
  if (rest.length === 0) return { ...object, [name]: value };
  const inner = (Object.hasOwn(object, name) ? object[name] : undefined) ?? {};
  if (typeof inner !== "object" || Array.isArray(inner)) {
    throw new UsageError(`"${path}": ${name} is not an object`);
  }
  return { ...object, [name]: assignAt(inner as Record<string, unknown>, rest, value, path) };
}

function jsonOrText(text: string): unknown {
  const value = parseJson(text);
  if (value === undefined) return text;
  const lossy = lossyNumberIn(text);
  if (lossy === undefined) return value;
  if (typeof value === "number") return text;
  throw new UsageError(`${lossy} has more digits than a JSON number can hold`, { hint: `Quote it: "${lossy}"` });
}

/** Returns the first number of valid JSON that a double cannot hold. */
export function lossyNumberIn(json: string): string | undefined {
  return numbersIn(json).find((number) => !isExact(number));
}

function numbersIn(json: string): string[] {
  const tokens = json.match(/"(?:[^"\\]|\\.)*"|[-\d][\d.eE+-]*/g) ?? [];
  return tokens.filter((token) => !token.startsWith('"'));
}

/** Returns true if a JSON number keeps its value when converted to a double. At most 15 digits always do. */
export function isExact(token: string): boolean {
  const [mantissa = ""] = token.split(/[eE]/);
  const digits = mantissa.replaceAll(/[-.]/g, "").replace(/^0+/, "");
  if (!Number.isFinite(Number(token)) || (Number(token) === 0 && digits !== "")) return false;
  return digits.length <= 15 || String(Number(token)) === token;
}

/** A condition on one value of an event, such as `data.object.amount=500` or `!=`. */
export interface Condition {
  /** The condition as typed. */
  text: string;
  path: string;
  isNegated: boolean;
  value: string;
}

/** Parses one value of a flag that collects conditions. */
export function parseCondition(text: string, previous: readonly Condition[] = []): Condition[] {
  const [, path, operator, value] = /^([\w-]+(?:\.[\w-]+)*)(!?=)(.*)$/s.exec(text) ?? [];
  if (path === undefined || value === undefined) {
    throw new InvalidArgumentError("Must be a path and a value, such as data.object.amount=500 or livemode!=true.");
  }
  return [...previous, { text, path, isNegated: operator === "!=", value }];
}

/** Returns true if a JSON value meets a condition. Strings are compared as they are, other values as JSON. */
export function meets(value: unknown, { path, isNegated, value: expected }: Condition): boolean {
  return (textAt(value, path) === expected) !== isNegated;
}

/** Returns the text to compare with a condition; undefined if the path does not exist. */
export function textAt(value: unknown, path: string): string | undefined {
  const found = valueAt(value, path);
  return typeof found === "string" ? found : JSON.stringify(found);
}
