/** The parts of an OpenAPI document that concern compatibility. */
export interface ApiDocument {
  paths: Record<string, Record<string, DescribedOperation>>;
  webhooks: Record<string, { post: DescribedOperation }>;
  components: { schemas: Record<string, Schema>; parameters: Record<string, Parameter> };
}

interface DescribedOperation {
  security: Record<string, string[]>[];
  parameters: (Parameter | { $ref: string })[];
  requestBody?: { required: boolean; content: Content };
  responses: Record<string, { content?: Content }>;
}

interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  schema: Schema;
}

type Content = Record<string, { schema: Schema }>;

interface Schema {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  allOf?: Schema[];
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  required?: string[];
}

/** Schemas that clients send, or that they receive: requests may accept more over time, responses contain more. */
type Direction = "sent" | "received";

/**
 * Returns the facts that API clients may rely on, one per line: operations, parameters, fields, types, values and
 * scopes. Components are listed by name, because generated clients use their names.
 */
export function promisesOf({ paths, webhooks, components }: ApiDocument): string[] {
  const lines = new Set<string>();
  const componentOf = ($ref: string): Schema =>
    $ref.startsWith("#/components/parameters/")
      ? components.parameters[nameOf($ref)]!.schema
      : components.schemas[nameOf($ref)]!;
  const nameOf = ($ref: string) => $ref.slice($ref.lastIndexOf("/") + 1);

  function addSchema(place: string, schema: Schema, direction: Direction): void {
    if (schema.$ref !== undefined) {
      const name = nameOf(schema.$ref);
      lines.add(`${place}: ${name}`);
      const component = `${direction} ${name}`;
      const isNew = ![...lines].some((line) => line.startsWith(`${component} `));
      if (isNew) addSchema(component, componentOf(schema.$ref), direction);
      return;
    }
    for (const part of [...(schema.allOf ?? []), ...(schema.anyOf ?? [])]) addSchema(place, part, direction);
    const types = typesOf(schema);
    if (direction === "sent") for (const type of types) lines.add(`${place} accepts ${type}`);
    else if (types.length > 0) lines.add(`${place} is ${types.join(" or ")}`);
    for (const value of schema.enum ?? []) lines.add(`${place} may be ${JSON.stringify(value)}`);
    for (const [name, field] of Object.entries(schema.properties ?? {})) {
      const isRequired = schema.required?.includes(name) ?? false;
      if (direction === "sent") lines.add(`${place}.${name} ${isRequired ? "required" : "optional"}`);
      else if (isRequired) lines.add(`${place}.${name} always`);
      addSchema(`${place}.${name}`, field, direction);
    }
    if (schema.items !== undefined) addSchema(`${place}[]`, schema.items, direction);
    if (typeof schema.additionalProperties === "object")
      addSchema(`${place}{}`, schema.additionalProperties, direction);
  }

  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      const place = `${method.toUpperCase()} ${path}`;
      addSchema(`${place} request`, requestOf(operation), "sent");
      for (const way of operation.security) {
        for (const [scheme, scopes] of Object.entries(way))
          lines.add(`${place} allows ${[scheme, ...scopes].join(" ")}`);
      }
      for (const [status, { content = {} }] of Object.entries(operation.responses)) {
        if (Number(status) >= 400) continue;
        for (const [type, { schema }] of Object.entries(content))
          addSchema(`${place} ${status} ${type}`, schema, "received");
      }
    }
  }
  for (const [type, { post }] of Object.entries(webhooks)) {
    addSchema(`webhook ${type}`, post.requestBody!.content["application/json"]!.schema, "received");
  }
  addSchema("every error", { $ref: "#/components/schemas/Problem" }, "received");
  return [...lines].sort();

  /** Returns parameters and body as fields of one object. */
  function requestOf({ parameters, requestBody }: DescribedOperation): Schema {
    const fields = parameters.flatMap((parameter): { name: string; required: boolean; schema: Schema }[] => {
      if ("$ref" in parameter) return [{ name: nameOf(parameter.$ref), required: false, schema: parameter }];
      const { name, in: position, required = false, schema } = parameter;
      // The path itself contains its parameters.
      return position === "path" ? [] : [{ name: `${position} ${name}`, required, schema }];
    });
    const bodies = Object.entries(requestBody?.content ?? {}).map(([type, { schema }]) => {
      return { name: `body ${type}`, required: requestBody!.required, schema };
    });
    const all = [...fields, ...bodies];
    return {
      type: "object",
      properties: Object.fromEntries(all.map(({ name, schema }) => [name, schema])),
      required: all.flatMap(({ name, required }) => (required ? [name] : [])),
    };
  }
}

/** Returns the facts of the old document that the new one breaks. */
export function breakingChanges(before: readonly string[], after: readonly string[]): string[] {
  const [had, has] = [new Set(before), new Set(after)];
  const newlyRequired = after.filter((line) => {
    const [, object] = /^(.+)\.[^.]+ required$/.exec(line) ?? [];
    // A new operation may require anything.
    return object !== undefined && had.has(`${object} accepts object`) && !had.has(line);
  });
  return [
    ...before.filter((line) => !has.has(line)).map((line) => `no longer: ${line}`),
    ...newlyRequired.map((line) => `newly: ${line}`),
  ];
}

function typesOf({ type, const: constant, enum: values }: Schema): string[] {
  if (type !== undefined) return [type].flat().sort();
  const examples = values ?? (constant === undefined ? [] : [constant]);
  return [...new Set(examples.map((value) => (value === null ? "null" : typeof value)))].sort();
}
