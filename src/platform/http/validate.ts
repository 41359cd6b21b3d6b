import type { TSchema } from "typebox";
import { Compile } from "typebox/compile";
import type { TLocalizedValidationError } from "typebox/error";
import { EVENT_TYPES, SUBSCRIPTION_WILDCARDS } from "../../contract/event-types.ts";
import { nearest } from "../../contract/nearest.ts";
import { withArticle } from "../../contract/resources.ts";
import type { FieldError } from "../../contract/schemas/problem.ts";
import { ApiError, escapePointer, invalidFields, shorten } from "../domain/api-error.ts";
import { problemOfRedirectUri } from "../domain/oauth-apps.ts";
import { expectedOfFormat } from "./formats.ts";
import { pairsOf } from "./pages/parameters.ts";

/** Checks a value. Returns the errors of each field, or an empty list if there are none. */
export type Check = (value: unknown) => FieldError[];

/**
 * Returns a check whose errors name the field and what it should be. Its first call compiles the schema: all schemas
 * together take 30 ms of a platform's start.
 */
export function checkOf(schema: TSchema): Check {
  let check: Check | undefined;
  return (value) => (check ??= compileCheck(schema))(value);
}

function compileCheck(schema: TSchema): Check {
  const inspect = inspectOf(schema);
  const validator = Compile(schema);
  return (value) => {
    const excess: Excess[] = [];
    inspect(value, () => "", excess);
    const exceedsLimit = excess.some(({ code }) => code === "too_many" || code === "too_long");
    if (exceedsLimit || excess.length >= MAX_ERRORS) return excess.map(asFieldError);
    if (excess.length === 0 && validator.Check(value)) return [];
    const errors = validator.Errors(value);
    const reported = new Set<string>();
    const misspelled = excess.filter(({ meant }) => meant !== undefined);
    const explained = new Set(misspelled.map(({ meant }) => meant));
    const described = errors
      .flatMap((error) => describe(error, errors, value))
      .filter(({ code, pointer }) => code !== "required" || !explained.has(pointer));
    const found = [...misspelled, ...described, ...excess].map(asFieldError);
    // What the library rejects is rejected, even if its errors are of no use.
    if (found.length === 0) return [{ pointer: "", code: "invalid", detail: "is not valid" }];
    const nameOf = ({ pointer, code }: FieldError) => `${pointer} ${code}`;
    return found.filter((error) => !reported.has(nameOf(error)) && reported.add(nameOf(error)));
  };
}

function describe(error: TLocalizedValidationError, all: readonly TLocalizedValidationError[], root: unknown) {
  const pointer = error.instancePath;
  const single = (code: string, detail: string) => [{ pointer, code, detail }];
  switch (error.keyword) {
    case "boolean":
    case "anyOf":
    case "additionalProperties":
      return [];
    case "required":
      return error.params.requiredProperties.map((name) => ({
        pointer: `${pointer}/${escapePointer(name)}`,
        code: "required",
        detail: "is required",
      }));
    case "type": {
      // Each branch of a nullable field has errors. Those of the branch other than `null` say what is expected.
      if (error.params.type === "null") return [];
      const expected = withArticle(String(error.params.type));
      return single("wrong_type", `must be ${expected}${isNullable(error, all) ? " or null" : ""}`);
    }
    case "format":
      return single("invalid_format", formatDetail(error.params.format, valueAt(root, pointer)));
    case "enum":
      return single("not_allowed", `must be one of ${error.params.allowedValues.join(", ")}`);
    case "minimum":
      return single("out_of_range", `must be at least ${error.params.limit}`);
    case "maximum":
      return single("out_of_range", `must be at most ${error.params.limit}`);
    case "minLength":
      return single("too_short", atLeast(error.params.limit, "characters"));
    case "maxLength":
      return single("too_long", `must have at most ${error.params.limit} characters`);
    case "minItems":
      return single("too_few", atLeast(error.params.limit, "items"));
    case "maxItems":
      return single("too_many", `must have at most ${error.params.limit} items`);
    case "maxProperties":
      return single("too_many", `must have at most ${error.params.limit} keys`);
    case "uniqueItems":
      return single("duplicate", "must not contain duplicates");
    default:
      return single("invalid", error.message);
  }
}

function formatDetail(format: string, value: unknown): string {
  if (format === "redirect-uri") return problemOfRedirectUri(String(value)) ?? "must be a redirect URI";
  const expectation = `must be ${expectedOfFormat(format)}`;
  if (format !== "event-type" && format !== "subscription") return expectation;
  const names = format === "subscription" ? [...EVENT_TYPES, ...SUBSCRIPTION_WILDCARDS] : EVENT_TYPES;
  const guesses = nearest(String(value), names);
  return guesses.length === 0 ? expectation : `${expectation}; did you mean ${guesses.join(", ")}?`;
}

function isNullable(error: TLocalizedValidationError, all: readonly TLocalizedValidationError[]): boolean {
  const isOfField = (other: TLocalizedValidationError) => other.instancePath === error.instancePath;
  return all.some((other) => isOfField(other) && other.keyword === "type" && other.params.type === "null");
}

function atLeast(limit: number, what: string): string {
  return limit === 1 ? "must not be empty" : `must have at least ${limit} ${what}`;
}

function valueAt(root: unknown, pointer: string): unknown {
  let value = root;
  for (const part of pointer.split("/").slice(1)) {
    value = (value as Record<string, unknown> | undefined)?.[part.replaceAll("~1", "/").replaceAll("~0", "~")];
  }
  return value;
}

const NO_QUERY: Record<string, unknown> = {};
const TAKES_NONE = "is not a parameter of this request, which has none";

/**
 * Returns a function that parses and validates a URL's query. It throws ApiError for repeated parameters, unknown ones
 * and malformed escapes, and parses whole numbers.
 */
export function compileQuery(schema: TSchema | undefined): (url: string) => Record<string, unknown> {
  const check = schema && checkOf(schema);
  const { properties = {} } = (schema ?? {}) as { properties?: Record<string, { type?: string }> };
  return (url) => {
    const mark = url.indexOf("?");
    if (mark === -1 || mark === url.length - 1) return NO_QUERY;
    const given = new Map<string, unknown>();
    for (const [name, text] of pairsOf(url.slice(mark + 1), /[\u0000-\u001f\u007f-\u009f]/, invalidQuery)) {
      if (given.has(name)) throw invalidFields([queryError(name, "duplicate", "is repeated")]);
      given.set(name, properties[name]?.type === "integer" && /^-?\d{1,15}$/.test(text) ? Number(text) : text);
    }
    const query = Object.fromEntries(given);
    const errors = check?.(query) ?? Object.keys(query).map((name) => queryError(name, "unknown_field", TAKES_NONE));
    if (errors.length > 0) throw invalidFields(errors.map(inQuery));
    return query;
  };
}

const invalidQuery = (content: string) => new ApiError("invalid_request", `The query contains ${content}`);

function queryError(name: string, code: string, detail: string): FieldError {
  return { pointer: `?${shorten(name)}`, code, detail };
}

/** A query has no JSON pointers: its fields are written `?name`. */
function inQuery({ pointer, code, detail }: FieldError): FieldError {
  const inWords = detail.replace("a field of", "a parameter of").replace("known fields", "known parameters");
  return { pointer: pointer.replace(/^\//, "?"), code, detail: code === "unknown_field" ? inWords : detail };
}

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

/** What exceeds a schema; of a misspelled field, with the pointer to the one that was probably meant. */
interface Excess extends FieldError {
  meant?: string;
}

function asFieldError({ pointer, code, detail }: Excess): FieldError {
  return { pointer, code, detail };
}

/** Adds what exceeds a schema to a list. */
type Inspect = (value: unknown, pointer: Pointer, found: Excess[]) => void;

/**
 * Returns a function that finds what exceeds a schema: unknown fields, too many items or keys, and texts that are too
 * long. Checked before the schema library checks formats and duplicates, which would take long for such values. Its list
 * of errors also stops after a few, which unknown fields could fill.
 */
function inspectOf(given: Shape): Inspect {
  const shape = given.anyOf?.find(({ type }) => type !== "null") ?? given;
  const { maxLength = Number.POSITIVE_INFINITY } = shape;
  const inspectItems = inspectItemsOf(shape);
  const inspectFields = inspectFieldsOf(shape);
  return (value, pointer, found) => {
    if (typeof value === "string") {
      if (!isLonger(value, maxLength)) return;
      found.push({ pointer: pointer(), code: "too_long", detail: `must have at most ${maxLength} characters` });
    } else if (Array.isArray(value)) inspectItems(value, pointer, found);
    else if (typeof value === "object" && value !== null) inspectFields(value, pointer, found);
  };
}

function inspectItemsOf({ items, maxItems = Number.POSITIVE_INFINITY }: Shape) {
  const inspect = items && inspectOf(items);
  return (list: readonly unknown[], pointer: Pointer, found: Excess[]) => {
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
  const [pattern] = Object.keys(patternProperties);
  const keys = pattern === undefined ? undefined : new RegExp(pattern, "u");
  const ofAnyName = Object.values(patternProperties)
    // There may be many values of any kind, which have no limits to check.
    .filter((inner) => Object.keys(inner).length > 0)
    .map(inspectOf);
  return (value: object, pointer: Pointer, found: Excess[]) => {
    const names = Object.keys(value);
    if (names.length > maxProperties) return void found.push(tooMany(pointer(), `${maxProperties} keys`));
    if (additionalProperties === false) {
      const isUnknown = (name: string) => !Object.hasOwn(properties, name) && keys?.test(name) !== true;
      const unknown = names.filter(isUnknown).slice(0, MAX_ERRORS);
      for (const name of unknown) found.push(unknownField(pointer(), name, Object.keys(properties), pattern));
    }
    const inspectField = (inspect: Inspect, name: string) =>
      inspect((value as Record<string, unknown>)[name], () => pointerTo(pointer(), name), found);
    for (const { name, inspect } of known) if (Object.hasOwn(value, name)) inspectField(inspect, name);
    for (const inspect of ofAnyName) for (const name of names) inspectField(inspect, name);
  };
}

/** `pattern` is that of the keys of a map, which limits their length. */
function unknownField(pointer: string, name: string, knownFields: readonly string[], pattern?: string): Excess {
  const fieldPointer = pointerTo(pointer, name);
  const [, maxLength] = /\{1,(\d+)\}/.exec(pattern ?? "") ?? [];
  if (maxLength !== undefined) {
    return { pointer: fieldPointer, code: "invalid_key", detail: `must have a name of 1 to ${maxLength} characters` };
  }
  const [guess] = nearest(name, knownFields);
  const help = guess === undefined ? `known fields: ${knownFields.join(", ") || "none"}` : `did you mean ${guess}?`;
  const error = { pointer: fieldPointer, code: "unknown_field", detail: `is not a field of this request; ${help}` };
  return guess === undefined ? error : { ...error, meant: pointerTo(pointer, guess) };
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

function tooMany(pointer: string, limit: string): FieldError {
  return { pointer, code: "too_many", detail: `must have at most ${limit}` };
}
