/** A part of the served OpenAPI document. */
export type Json = Record<string, unknown>;

export interface Schema {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  examples?: unknown[];
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  maxProperties?: number;
  items?: Schema;
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  propertyNames?: Schema;
  additionalProperties?: boolean | Schema;
}

export interface Parameter {
  name: string;
  in: "path" | "query" | "header";
  required?: boolean;
  schema: Schema;
}

export interface Operation {
  id: string;
  method: string;
  path: string;
  parameters: Parameter[];
  /** True if the operation requires a signed-in user, and rejects keys. */
  takesSession: boolean;
  body: Schema | undefined;
  /** JSON pointers to the response by status, with references resolved. */
  responses: Map<number, string>;
}

export interface Document {
  root: Json;
  operations: Operation[];
  /** Follows references to the value. */
  resolve: <Part>(part: Part | { $ref: string }) => Part;
  at: (pointer: string) => unknown;
}

interface RawOperation {
  operationId: string;
  security: Record<string, string[]>[];
  parameters?: (Parameter | { $ref: string })[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, { $ref?: string }>;
}

/** Reads everything needed to call each operation from the document alone, which must therefore be complete. */
export function readDocument(root: Json, leftOut: readonly string[] = []): Document {
  const at = (pointer: string) =>
    pointer
      .replace(/^#\//, "")
      .split("/")
      .reduce<unknown>((part, key) => (part as Json)[key.replaceAll("~1", "/").replaceAll("~0", "~")], root);
  const resolve = <Part>(part: Part | { $ref: string }): Part => {
    const reference = (part as { $ref?: string }).$ref;
    return reference === undefined ? (part as Part) : resolve(at(reference) as Part);
  };
  const operations = Object.entries(root["paths"] as Record<string, Record<string, RawOperation>>).flatMap(
    ([path, methods]) =>
      Object.entries(methods).map(([method, operation]): Operation => {
        const here = `#/paths/${path.replaceAll("~", "~0").replaceAll("/", "~1")}/${method}/responses`;
        return {
          id: operation.operationId,
          method: method.toUpperCase(),
          path,
          parameters: (operation.parameters ?? []).map((parameter) => resolve<Parameter>(parameter)),
          takesSession: operation.security.every((requirement) => "session" in requirement),
          body: operation.requestBody?.content["application/json"]?.schema,
          responses: new Map(
            Object.entries(operation.responses).map(([status, response]) => [
              Number(status),
              response.$ref ?? `${here}/${status}`,
            ]),
          ),
        };
      }),
  );
  const unknown = leftOut.filter((name) => operations.every(({ id }) => id !== name));
  if (unknown.length > 0) throw new Error(`No such operation: ${unknown.join(", ")}`);
  return { root, operations: operations.filter(({ id }) => !leftOut.includes(id)), resolve, at };
}
