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

/** Returns a response that fits the schema, with all required fields. */
export function exampleResponse(schema: TSchema): unknown {
  const { type, properties = {}, required = [], items, anyOf, minimum = 0 } = schema as Keywords;
  const stated = statedExample(schema);
  if (stated !== undefined) return stated;
  if (anyOf !== undefined) {
    return exampleResponse(anyOf.find((one) => (one as Keywords).type === "null") ?? anyOf[0]!);
  }
  switch (type) {
    case "object":
      return Object.fromEntries(required.map((name) => [name, exampleResponse(properties[name]!)]));
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
function sampleHealth(type: EventType, { health, disabled_at: disabledAt }: Record<string, unknown>) {
  const isDisabled = type === "webhook_endpoint.disabled";
  return {
    disabled_reason: isDisabled ? "gone" : null,
    disabled_at: isDisabled ? disabledAt : null,
    health: type === "webhook_endpoint.failing" ? health : { failing_since: null },
  };
}

/** Returns a request body with the required fields, and the optional ones that have an example. */
export function exampleRequest(schema: TSchema): unknown {
  const { properties = {}, required = [] } = schema as Keywords;
  const shown = Object.entries(properties).flatMap(([name, property]) => {
    const isShown = required.includes(name) || statedExample(property) !== undefined;
    return isShown ? [[name, exampleResponse(property)] as const] : [];
  });
  return Object.fromEntries(shown);
}

/** Returns the example in the schema, its default or a possible value; undefined if the schema states none. */
export function statedExample(schema: TSchema): unknown {
  const { const: constant, enum: names, examples, format, anyOf, default: usual } = schema as Keywords;
  if (anyOf !== undefined) return statedExample(anyOf[0]!);
  if (constant !== undefined) return constant;
  if (examples !== undefined) return examples[0];
  if (usual !== undefined) return usual;
  if (names !== undefined) return names[0];
  const keywords = (format === undefined ? undefined : keywordsOfFormat(format)) as Keywords | undefined;
  return keywords?.examples?.[0] ?? keywords?.enum?.[0];
}
