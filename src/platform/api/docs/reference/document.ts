import { type ErrorCode, PROBLEM_MEDIA_TYPE } from "../../../../contract/errors.ts";
import { nounOf, type ResourceKind, RESOURCES } from "../../../../contract/resources.ts";

/** The parts of an OpenAPI 3.1 document (https://spec.openapis.org/oas/v3.1.1) that the reference shows. */
export interface OpenApiDocument {
  info: { title: string; version: string; summary: string; description: string };
  tags: readonly { name: string; description: string }[];
  /** The tags in groups: an extension that documentation tools share. */
  "x-tagGroups": readonly { name: string; tags: readonly string[] }[];
  paths: Record<string, Record<string, OperationObject>>;
  webhooks: Record<string, { post: OperationObject }>;
  components: Record<"schemas" | "responses" | "parameters", Record<string, object>>;
}

interface OperationObject {
  operationId: string;
  summary: string;
  description: string;
  tags: readonly string[];
  security?: readonly Record<string, readonly string[]>[];
  parameters?: readonly (ParameterObject | Reference)[];
  requestBody?: { content: Record<string, MediaType> };
  responses: Record<string, ResponseObject | Reference>;
}

export interface ParameterObject {
  name: string;
  in: "path" | "query" | "header";
  description?: string;
  required?: boolean;
  schema: Schema;
}

interface ResponseObject {
  description: string;
  content?: Record<string, MediaType>;
}

interface MediaType {
  schema: Schema | Reference;
  example?: unknown;
  examples?: Record<string, object>;
}

export interface Schema {
  type?: string | readonly string[];
  description?: string;
  required?: readonly string[];
  properties?: Record<string, Schema | Reference>;
  items?: Schema | Reference;
  additionalProperties?: Schema | Reference | boolean;
  allOf?: readonly (Schema | Reference)[];
  anyOf?: readonly (Schema | Reference)[];
  enum?: readonly unknown[];
  const?: unknown;
  format?: string;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  examples?: readonly unknown[];
}

export interface Reference {
  $ref: string;
}

export interface Operation extends Omit<OperationObject, "parameters"> {
  method: string;
  path: string;
  parameters: readonly ParameterObject[];
  body: { schema: Schema; example: unknown } | undefined;
  success: { status: string; description: string; mediaType?: string; schema?: Schema; example?: unknown };
  errors: readonly ErrorCode[];
}

/** An object that operations return or list. One page describes it, and the operations refer to that. */
export interface ApiObject {
  /** Its name in a sentence, such as `webhook endpoint`. */
  noun: string;
  /** The heading of its section, and the anchor of that. */
  title: string;
  id: string;
  /** The group whose page describes it. */
  group: string;
  schema: Schema;
}

/** Follows references within one document. */
export class Documents {
  readonly document: OpenApiDocument;
  /** The objects by the value of their attribute `object`. */
  readonly objects = new Map<string, ApiObject>();

  constructor(document: OpenApiDocument) {
    this.document = document;
    for (const { success, tags } of this.operations()) {
      const { name, schema } = this.#objectIn(success.schema ?? {});
      const known = this.objects.get(name)?.schema ?? {};
      // Confirmations of a deletion have fewer attributes, and so has an object in some lists.
      if (name === "" || attributesOf(schema).length <= attributesOf(known).length) continue;
      const isKind = Object.hasOwn(RESOURCES, name);
      const noun = isKind ? nounOf(name as ResourceKind) : name;
      const title = `The ${noun} object`;
      this.objects.set(name, {
        noun,
        title,
        id: title.toLowerCase().replaceAll(" ", "-"),
        group: isKind ? RESOURCES[name as ResourceKind].labels : tags[0]!,
        schema,
      });
    }
  }

  /** Returns the object that a response is or lists; undefined if it is something else, such as a confirmation. */
  objectOf(response: Schema): (ApiObject & { isListed: boolean }) | undefined {
    const { name, schema } = this.#objectIn(response);
    const object = this.objects.get(name);
    if (object === undefined || attributesOf(schema).some((one) => !attributesOf(object.schema).includes(one))) return;
    return { ...object, isListed: schema !== response };
  }

  #objectIn(response: Schema): { name: string; schema: Schema } {
    const { object: name, data } = response.properties ?? {};
    const { const: value = "" } = name === undefined ? {} : this.schema(name);
    if (value !== "list") return { name: value as string, schema: response };
    const item = this.schema(this.schema(data!).items!);
    return this.#objectIn(item.anyOf === undefined ? item : this.schema(item.anyOf[0]!));
  }

  /** Resolves a reference of the form `#/components/<kind>/<name>`; returns any other value unchanged. */
  follow<T extends object>(value: T | Reference): T {
    if (!("$ref" in value)) return value;
    const [, , kind, name] = value.$ref.split("/") as [string, string, keyof OpenApiDocument["components"], string];
    return this.document.components[kind][name] as T;
  }

  /** Returns a schema with resolved references and merged `allOf` parts. */
  schema(given: Schema | Reference): Schema {
    const { allOf, ...schema } = this.follow<Schema>(given);
    if (allOf === undefined) return schema;
    return allOf.map((part) => this.schema(part)).reduce((joined, part) => this.#join(joined, part), schema);
  }

  #join(one: Schema, other: Schema): Schema {
    const properties = { ...one.properties };
    for (const [name, property] of Object.entries(other.properties ?? {})) {
      const existing = properties[name];
      properties[name] = existing === undefined ? property : this.#join(this.schema(existing), this.schema(property));
    }
    return { ...one, ...other, ...(Object.keys(properties).length > 0 && { properties }) };
  }

  /** Every operation, in the order of the document. */
  operations(): Operation[] {
    return Object.entries(this.document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => this.#operation(method.toUpperCase(), path, operation)),
    );
  }

  /** The deliveries that webhook endpoints receive: one operation per event type, with the type as its path. */
  webhooks(): Operation[] {
    return Object.entries(this.document.webhooks).map(([type, { post }]) => this.#operation("POST", type, post));
  }

  #operation(method: string, path: string, operation: OperationObject): Operation {
    const { requestBody, parameters = [] } = operation;
    const responses = Object.entries(operation.responses).map(([status, response]) => ({
      status,
      ...this.follow<ResponseObject>(response),
    }));
    const [mediaType] = Object.values(requestBody?.content ?? {});
    const isSuccess = ({ status }: { status: string }) => status.startsWith("2");
    const { status, description, content } = responses.find(isSuccess)!;
    const [reply] = Object.entries(content ?? {});
    return {
      ...operation,
      method,
      path,
      parameters: parameters.map((parameter) => this.follow<ParameterObject>(parameter)),
      body: mediaType && { schema: this.schema(mediaType.schema), example: mediaType.example },
      success: {
        status,
        description,
        ...(reply && { mediaType: reply[0], schema: this.schema(reply[1].schema), example: reply[1].example }),
      },
      errors: responses
        .filter((response) => !isSuccess(response))
        .flatMap((response) => Object.keys(response.content?.[PROBLEM_MEDIA_TYPE]?.examples ?? {}) as ErrorCode[]),
    };
  }
}

function attributesOf({ properties = {} }: Schema): string[] {
  return Object.keys(properties);
}
