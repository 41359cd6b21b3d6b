import type { TSchema } from "typebox";
import type { EventType } from "../../../contract/event-types.ts";
import { type KindWith, resourceOf } from "../../../contract/resources.ts";
import { EVENT_OBJECT_SCHEMAS } from "../../../contract/schemas/objects.ts";
import { keywordsOfFormat } from "../../http/formats.ts";

interface Keywords {
  type?: string;
  const?: unknown;
  default?: unknown;
  enum?: unknown[];
  examples?: unknown[];
  format?: string;
  anyOf?: TSchema[];
  properties?: Record<string, TSchema>;
  required?: string[];
  items?: TSchema;
  minimum?: number;
}

/** Returns a response that fits the schema, with all required fields and these optional ones. */
export function exampleResponse(schema: TSchema, optional: readonly string[] = []): unknown {
  const { type, properties = {}, required = [], items, anyOf, minimum = 0 } = schema as Keywords;
  const stated = statedExample(schema);
  if (stated !== undefined) return stated;
  if (anyOf !== undefined) {
    return exampleResponse(anyOf.find((one) => (one as Keywords).type === "null") ?? anyOf[0]!);
  }
  switch (type) {
    case "object":
      return Object.fromEntries([...required, ...optional].map((name) => [name, exampleResponse(properties[name]!)]));
    case "array":
      return items === undefined ? [] : [exampleResponse(items)];
    case "string":
      return "text";
    case "boolean":
      return false;
    case "null":
      return null;
    default:
      return minimum;
  }
}

/** Returns an object as an event of a type shows it, with the values that the schemas name as examples. */
export function sampleObject(type: EventType): Record<string, unknown> {
  const [kind = "", change = ""] = type.split(".");
  const example = exampleResponse(EVENT_OBJECT_SCHEMAS[kind as KindWith<"events">]) as Record<string, unknown>;
  const sample = kind === "webhook_endpoint" ? { ...example, ...sampleHealth(type, example) } : example;
  const { statuses = {} } = resourceOf(kind as KindWith<"events">);
  return Object.hasOwn(statuses, change) ? { ...sample, status: change } : sample;
}

/** Returns the fields of an endpoint that an event of a type tells about. */
function sampleHealth(type: EventType, { created }: Record<string, unknown>) {
  if (type === "webhook_endpoint.disabled") return { disabled_reason: "gone", disabled_at: created };
  return type === "webhook_endpoint.failing" ? { health: { failing_since: created } } : {};
}

/**
 * Returns a request body with the required fields, and the optional ones that have an example, except for IDs: the reader
 * has no object with that ID.
 */
export function exampleRequest(schema: TSchema): unknown {
  const { properties = {}, required = [] } = schema as Keywords;
  const shown = Object.entries(properties).flatMap(([name, property]) => {
    const isShown = required.includes(name) || (statedExample(property) !== undefined && !isId(property));
    return isShown ? [[name, exampleResponse(property)] as const] : [];
  });
  return Object.fromEntries(shown);
}

function isId(schema: TSchema): boolean {
  const { format = "", anyOf } = schema as Keywords;
  return anyOf === undefined ? format.endsWith("-id") : isId(anyOf[0]!);
}

/** Returns the example in the schema, its default or a possible value; undefined if the schema states none. */
export function statedExample(schema: TSchema): unknown {
  const { const: constant, enum: names, examples, format, anyOf, default: usual } = schema as Keywords;
  if (examples !== undefined) return examples[0];
  if (anyOf !== undefined) return statedExample(anyOf[0]!);
  if (constant !== undefined) return constant;
  if (usual !== undefined) return usual;
  if (names !== undefined) return names[0];
  const keywords = (format === undefined ? undefined : keywordsOfFormat(format)) as Keywords | undefined;
  return keywords?.examples?.[0] ?? keywords?.enum?.[0];
}
