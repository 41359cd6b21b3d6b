import { withArticle } from "../../contract/resources.ts";
import type { TSchema } from "typebox";
import { Compile } from "typebox/compile";
import type { TLocalizedValidationError } from "typebox/error";
import { EVENT_TYPES, SUBSCRIPTION_WILDCARDS } from "../../contract/event-types.ts";
import type { FieldError } from "../../contract/schemas/problem.ts";
import { nearest } from "../../contract/nearest.ts";
import { problemOfRedirectUri } from "../domain/redirect-uris.ts";
import { compileExcess, escapePointer, MAX_ERRORS } from "./excess.ts";
import { expectedOfFormat } from "./formats.ts";

/** Checks a value. Returns the errors of each field, or an empty list if there are none. */
export type Check = (value: unknown) => FieldError[];

/** Compiles a schema into a check whose errors name the field and what it should be. */
export function compileCheck(schema: TSchema): Check {
  const excessOf = compileExcess(schema);
  const validator = Compile(schema);
  return (value) => {
    const excess = excessOf(value);
    const exceedsLimit = excess.some(({ code }) => code === "too_many" || code === "too_long");
    if (exceedsLimit || excess.length >= MAX_ERRORS) return excess;
    if (excess.length === 0 && validator.Check(value)) return [];
    const errors = validator.Errors(value);
    const reported = new Set<string>();
    const found = [...excess, ...errors.flatMap((error) => describe(error, errors, value))];
    // What the library rejects is rejected, even if its errors are of no use.
    if (found.length === 0) return [{ pointer: "", code: "invalid", detail: "is not valid" }];
    return found.filter(
      ({ pointer, code }) => !reported.has(`${pointer} ${code}`) && reported.add(`${pointer} ${code}`),
    );
  };
}

function describe(
  error: TLocalizedValidationError,
  all: readonly TLocalizedValidationError[],
  root: unknown,
): FieldError[] {
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
      return single(
        "wrong_type",
        `must be ${withArticle(String(error.params.type))}${isNullable(error, all) ? " or null" : ""}`,
      );
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
  return all.some((other) => {
    return other.instancePath === error.instancePath && other.keyword === "type" && other.params.type === "null";
  });
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
