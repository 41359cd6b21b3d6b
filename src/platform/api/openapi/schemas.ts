import type { TSchema } from "typebox";
import { keywordsOfFormat } from "../../http/formats.ts";
import { exampleResponse } from "./examples.ts";

export type Json = Record<string, unknown>;

/** Converts the contract's schemas to the document's: named ones become components, custom formats plain keywords. */
export class Schemas {
  /** The URL of the platform, which examples contain. */
  readonly baseUrl: string;
  readonly #named = new Map<string, Json>();

  constructor(baseUrl: string) {
    this.baseUrl = baseUrl;
  }

  /** Returns the schema as the document contains it: a reference if it has a name. */
  place(schema: TSchema): Json {
    const { $id: name } = schema as { $id?: string };
    if (name === undefined) return this.#inline(schema as Json);
    if (!this.#named.has(name)) {
      const { description, ...rest } = this.#inline(schema as Json);
      this.#named.set(name, { description, ...rest, examples: [exampleResponse(schema)] });
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  get components(): Json {
    return Object.fromEntries([...this.#named].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #inline(schema: Json): Json {
    const placed: Json = {};
    for (const [keyword, value] of Object.entries(schema)) Object.assign(placed, this.#keyword(keyword, value, schema));
    return joinNull(joinPattern(openObject(placed)));
  }

  #keyword(keyword: string, value: unknown, schema: Json): Json {
    switch (keyword) {
      case "properties":
      case "patternProperties":
        return { [keyword]: mapValues(value as Record<string, TSchema>, (part) => this.place(part)) };
      case "items":
        return { items: this.place(value as TSchema) };
      case "anyOf":
        return { anyOf: (value as TSchema[]).map((part) => this.place(part)) };
      case "format":
        return { ...(keywordsOfFormat(value as string) ?? { format: value }), ...examplesOf(schema) };
      case "$id":
        return {};
      default:
        return { [keyword]: value };
    }
  }
}

/** The examples that a schema itself gives, which take precedence over those of its format. */
function examplesOf({ examples }: Json): Json {
  return examples === undefined ? {} : { examples };
}

/** States that an object without declared fields may have any. Code generators otherwise take it for an empty one. */
function openObject(schema: Json): Json {
  const isOpen = schema["type"] === "object" && !("properties" in schema) && !("patternProperties" in schema);
  return isOpen ? { ...schema, additionalProperties: {} } : schema;
}

/** A single pattern for all keys is written the usual way, which more tools understand. */
function joinPattern({ patternProperties, ...schema }: Json): Json {
  if (patternProperties === undefined) return schema;
  const [[pattern, value] = ["", {}]] = Object.entries(patternProperties as Json);
  const takesAll = pattern === "^.*$";
  return { ...schema, ...(takesAll ? {} : { propertyNames: { pattern } }), additionalProperties: value };
}

/** Simplifies `anyOf: [X, null]` of a plain X to X with two types. */
function joinNull({ anyOf, ...schema }: Json): Json {
  if (anyOf === undefined) return schema;
  const [first, second, ...others] = anyOf as Json[];
  const isPlain = typeof first?.["type"] === "string" && !("enum" in first) && !("const" in first);
  if (!isPlain || second?.["type"] !== "null" || others.length > 0) return { ...schema, anyOf };
  return { ...schema, ...first, type: [first["type"], "null"] };
}

function mapValues<Value, Result>(
  object: Record<string, Value>,
  change: (value: Value) => Result,
): Record<string, Result> {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value)]));
}
