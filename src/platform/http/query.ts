import type { TSchema } from "typebox";
import type { FieldError } from "../../contract/schemas/problem.ts";
import { ApiError, invalidFields, shorten } from "../domain/api-error.ts";
import { type Check, compileCheck } from "./validate.ts";

/** Parses and validates a URL's query. Throws ApiError. */
export type QueryReader = (url: string) => Record<string, unknown>;

const NO_QUERY: Record<string, unknown> = {};
const TAKES_NONE = "is not a parameter of this request, which has none";

/** Compiles a query schema. Rejects repeated parameters, unknown ones and malformed escapes. Parses whole numbers. */
export function compileQuery(schema: TSchema | undefined): QueryReader {
  const check: Check | undefined = schema === undefined ? undefined : compileCheck(schema);
  const properties = ((schema as { properties?: Record<string, { type?: string }> }) ?? {}).properties ?? {};
  return (url) => {
    const mark = url.indexOf("?");
    if (mark === -1 || mark === url.length - 1) return NO_QUERY;
    const given = new Map<string, unknown>();
    for (const [name, text] of parse(url.slice(mark + 1))) {
      if (given.has(name)) throw invalidFields([queryError(name, "duplicate", "is repeated")]);
      given.set(name, properties[name]?.type === "integer" && /^-?\d{1,15}$/.test(text) ? Number(text) : text);
    }
    const query = Object.fromEntries(given);
    const errors = check?.(query) ?? Object.keys(query).map((name) => queryError(name, "unknown_field", TAKES_NONE));
    if (errors.length > 0) throw invalidFields(errors.map(inQuery));
    return query;
  };
}

function* parse(text: string): Generator<[string, string]> {
  for (const pair of text.split("&")) {
    if (pair === "") continue;
    const equals = pair.indexOf("=");
    const name = equals === -1 ? pair : pair.slice(0, equals);
    yield [decode(name), equals === -1 ? "" : decode(pair.slice(equals + 1))];
  }
}

function decode(text: string): string {
  let decoded: string;
  try {
    decoded = decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    throw new ApiError("invalid_request", `The query contains a malformed escape: ${text.slice(0, 60)}`);
  }
  if (!/[\u0000-\u001f\u007f-\u009f]/.test(decoded)) return decoded;
  throw new ApiError("invalid_request", `The query contains a control character: ${text.slice(0, 60)}`);
}

function queryError(name: string, code: string, detail: string): FieldError {
  return { pointer: `?${shorten(name)}`, code, detail };
}

/** A query has no JSON pointers: its fields are written `?name`. */
function inQuery({ pointer, code, detail }: FieldError): FieldError {
  const wording =
    code === "unknown_field"
      ? detail.replace("a field of", "a parameter of").replace("known fields", "known parameters")
      : detail;
  return { pointer: pointer.startsWith("/") ? `?${pointer.slice(1)}` : pointer, code, detail: wording };
}
