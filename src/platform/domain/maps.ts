import { pairTypeOf } from "../../contract/field-types.ts";
import { isHeaderName } from "../../contract/headers.ts";
import { type Field, inputFieldsOf, type KindWith } from "../../contract/resources.ts";
import type { FieldError } from "../../contract/schemas/problem.ts";
import type { Vault } from "../security/vault.ts";
import { escapePointer, invalidFields } from "./api-error.ts";

/** The value of a field of type `map`. */
export type Pairs = Readonly<Record<string, string>>;

/** Changes by name; null or an empty text removes a pair. */
type PairChanges = Readonly<Record<string, string | null>>;

/** Headers that a delivery sets itself, or that belong to the connection (RFC 9110 7.6.1). */
const RESERVED =
  /^(service-.*|content-.*|proxy-.*|host|connection|user-agent|expect|keep-alive|te|trailer|transfer-encoding|upgrade|traceparent)$/i;

/**
 * Returns a map after a change is merged into it. Names of headers are compared ignoring case. Throws ApiError for too
 * many pairs, and for invalid and reserved names of headers.
 */
export function changeMap(name: string, { of }: Field, before: Pairs, changes: PairChanges): Pairs {
  const isOfHeaders = of === "header";
  const keyOf = (key: string) => (isOfHeaders ? key.toLowerCase() : key);
  const errors: FieldError[] = [];
  const given = new Set<string>();
  // A map, since a key may have the name of an inherited property.
  const changed = new Map(Object.entries(before).map(([key, value]) => [keyOf(key), { key, value }]));
  for (const [key, value] of Object.entries(changes)) {
    const problem = isOfHeaders ? problemOf(key, given.has(keyOf(key))) : undefined;
    given.add(keyOf(key));
    if (problem !== undefined) errors.push({ pointer: `/${name}/${escapePointer(key)}`, ...problem });
    else if (value === null || value === "") changed.delete(keyOf(key));
    else changed.set(keyOf(key), { key, value });
  }
  const { maxPairs } = pairTypeOf(of);
  if (changed.size > maxPairs) {
    const detail = `must have at most ${maxPairs} keys; after the merge it has ${changed.size}`;
    errors.push({ pointer: `/${name}`, code: "too_many", detail });
  }
  if (errors.length > 0) throw invalidFields(errors);
  return Object.fromEntries([...changed.values()].map(({ key, value }) => [key, value]));
}

function problemOf(name: string, isRepeated: boolean): Pick<FieldError, "code" | "detail"> | undefined {
  if (!isHeaderName(name)) {
    return { code: "invalid_format", detail: "must be a header name: letters, digits and hyphens, such as X-Api-Key" };
  }
  if (RESERVED.test(name)) return { code: "reserved", detail: "is set by the delivery or its connection: remove it" };
  return isRepeated ? { code: "duplicate", detail: "is repeated: names are compared ignoring case" } : undefined;
}

/** Returns the old value of each key of a map that changed; null for a new one. */
export function changedPairs(before: Pairs, after: Pairs): Record<string, string | null> {
  const old = new Map(Object.entries(before));
  const current = new Map(Object.entries(after));
  const changed = [...new Set([...old.keys(), ...current.keys()])].filter((key) => old.get(key) !== current.get(key));
  return Object.fromEntries(changed.map((key) => [key, old.get(key) ?? null]));
}

/**
 * Returns the maps of an object that a request changes, as `storedFields` takes them: those with secret values sealed,
 * and their names. `row` is the object so far. Throws ApiError as `changeMap` does.
 */
export function changedMaps(
  kind: KindWith<"fields">,
  row: { id: string },
  input: object,
  vault: Vault,
): Record<string, unknown> {
  const given = input as Readonly<Record<string, PairChanges | null | undefined>>;
  const columns = row as Readonly<Record<string, unknown>>;
  const maps: Record<string, unknown> = {};
  for (const [name, field] of inputFieldsOf(kind)) {
    const { [name]: changes } = given;
    if (field.type !== "map" || changes === undefined) continue;
    const context = sealContextOf(name, row.id);
    const before = changes === null ? {} : readable(vault, columns[name], context);
    const after = changeMap(name, field, before, changes ?? {});
    const names = Object.keys(after);
    const isSealed = field.secret !== undefined;
    maps[name] = !isSealed ? after : names.length === 0 ? null : vault.seal(JSON.stringify(after), context);
    if (field.secret !== undefined) maps[field.secret] = names;
  }
  return maps;
}

/** Returns the pairs that a column holds. Damaged ones are useless, so an update replaces them. */
function readable(vault: Vault, column: unknown, context: string): Pairs {
  if (typeof column === "string") return JSON.parse(column) as Pairs;
  try {
    return column instanceof Uint8Array ? (JSON.parse(vault.open(column, context)) as Pairs) : {};
  } catch {
    return {};
  }
}

/** Returns what binds a sealed map to its object. It differs from that of the object's secrets. */
export function sealContextOf(name: string, id: string): string {
  return `${name} of ${id}`;
}
