import { InvalidArgumentError } from "commander";
import { parseBaseUrl } from "../../client/base-url.ts";
import { UnsafeRequestError } from "../../client/errors.ts";
import { EVENT_TYPES, SUBSCRIPTION_WILDCARDS, typesOfSubscription } from "../../contract/event-types.ts";
import { nearest } from "../../contract/nearest.ts";
import { parseTarget, TargetError } from "../../relay/targets.ts";
import { parseSubscriptions } from "../arguments/values.ts";
import type { Schema, TypeName } from "./schema.ts";

/** An error in a value. */
export interface Mistake {
  /** Keys and indexes from the top of the file. */
  path: readonly (string | number)[];
  /** True if the key is wrong, not its value. */
  atKey: boolean;
  message: string;
}

/** Returns the errors of a value, in the order of the schema. */
export function mistakesIn(value: unknown, schema: Schema, path: Mistake["path"] = []): Mistake[] {
  const wrong = (message: string): Mistake[] => [{ path, atKey: false, message }];
  const types = [schema.type].flat();
  if (!types.some((type) => isOfType(value, type))) return wrong(`must be ${NAMES[types[0]!]}, not ${nameOf(value)}`);
  if (schema.type === "object") return mistakesInObject(value as Record<string, unknown>, schema, path);
  const { minItems = 0, minLength = 0, minimum, maximum, pattern, format, items } = schema;
  if (Array.isArray(value)) {
    if (value.length < minItems) return wrong("must not be empty");
    const inside = value.flatMap((item, i) => mistakesIn(item, items!, [...path, i]));
    if (inside.length > 0) return inside;
  }
  if (typeof value === "string" && value.length < minLength) return wrong("must not be empty");
  if (minimum !== undefined && (value as number) < minimum) return wrong(`must be at least ${minimum}`);
  if (maximum !== undefined && (value as number) > maximum) return wrong(`must be at most ${maximum}`);
  if (pattern !== undefined && !new RegExp(pattern).test(value as string)) {
    return wrong("must be the name of a variable: letters, digits and _");
  }
  const message = format === undefined ? undefined : FORMATS[format](value as never);
  return message === undefined ? [] : wrong(message);
}

function mistakesInObject(value: Record<string, unknown>, schema: Schema, path: Mistake["path"]): Mistake[] {
  const { properties = {}, patternProperties = {}, additionalProperties: rest } = schema;
  const free = Object.keys(patternProperties).map((pattern) => new RegExp(pattern));
  return Object.entries(value).flatMap(([key, member]) => {
    const own = [...path, key];
    const known = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (known !== undefined) return mistakesIn(member, known, own);
    if (free.some((pattern) => pattern.test(key))) return [];
    if (rest) return [...mistakesInSubscription(key, own), ...mistakesIn(member, rest, own)];
    return [{ path: own, atKey: true, message: `unknown key${didYouMean(nearest(key, Object.keys(properties)))}` }];
  });
}

/** The keys of `forward.routes` are event types and wildcards. */
function mistakesInSubscription(key: string, path: Mistake["path"]): Mistake[] {
  if (typesOfSubscription(key).length > 0) return [];
  const guesses = nearest(key, [...EVENT_TYPES, ...SUBSCRIPTION_WILDCARDS]);
  return [{ path, atKey: true, message: `unknown event type${didYouMean(guesses)}` }];
}

function didYouMean([guess]: readonly string[]): string {
  return guess === undefined ? "" : `; did you mean ${guess}?`;
}

const NAMES: Readonly<Record<TypeName, string>> = {
  object: "keys and values",
  array: "a list",
  string: "a string",
  integer: "a whole number",
  boolean: "true or false",
};

function isOfType(value: unknown, type: TypeName): boolean {
  if (type === "object") return typeof value === "object" && value !== null && !Array.isArray(value);
  if (type === "array") return Array.isArray(value);
  if (type === "integer") return Number.isSafeInteger(value);
  return typeof value === type;
}

function nameOf(value: unknown): string {
  if (value === null) return "empty";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "keys and values";
  return typeof value === "string" ? `the string "${value.slice(0, 40)}"` : JSON.stringify(value);
}

/** The rules of the flags that take the same values. Each returns an error message, or undefined. */
const FORMATS = {
  target: (target: string | number) => messageOf(() => parseTarget(String(target)), TargetError),
  "base-url": (text: string) => messageOf(() => parseBaseUrl(text, { insecure: true }), UnsafeRequestError),
  subscriptions: (names: readonly string[]) =>
    messageOf(() => parseSubscriptions(names.join(",")), InvalidArgumentError),
};

function messageOf(parse: () => unknown, expected: new (...args: never[]) => Error): string | undefined {
  try {
    parse();
    return undefined;
  } catch (error) {
    if (error instanceof expected) return error.message;
    throw error;
  }
}
