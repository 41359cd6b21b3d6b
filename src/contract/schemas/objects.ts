import { type TObject, type TSchema, Type } from "typebox";
import type { IdKind } from "../ids.ts";
import { LIMITS } from "../limits.ts";
import {
  type Field,
  inputFieldsOf,
  kindsWith,
  type KindWith,
  lowerFirst,
  nounOf,
  OBJECT_KINDS,
  type ObjectKind,
  resourceOf,
  withArticle,
} from "../resources.ts";
import {
  closed,
  SEARCH_FILTERS,
  deleted,
  idOf,
  listOf,
  listQuery,
  Livemode,
  Metadata,
  MetadataInput,
  MetadataPatch,
  nullable,
  Timestamp,
} from "./fields.ts";
import { WebhookEndpoint } from "./webhook-endpoint.ts";

/** The schemas of a resource that is described by its fields in the table of resources. */
interface ObjectSchemas {
  object: TObject;
  list: TObject;
  query: TObject;
  create: TObject;
  /** Undefined if objects cannot be updated. */
  update: TObject | undefined;
  /** Undefined if objects cannot be deleted. */
  deleted: TObject | undefined;
  /** Request bodies of the actions that have fields, by verb. */
  actions: Readonly<Record<string, TObject>>;
}

/** Limits of values in requests, which responses do not repeat. */
const REQUEST_LIMITS: Readonly<Partial<Record<Field["type"], object>>> = {
  text: { minLength: 1, maxLength: LIMITS.nameLength },
  email: { maxLength: LIMITS.emailLength },
  code: { pattern: "^[a-z][a-z0-9_]{0,63}$" },
};

export const OBJECT_SCHEMAS = Object.fromEntries(OBJECT_KINDS.map((kind) => [kind, schemasOf(kind)])) as Readonly<
  Record<ObjectKind, ObjectSchemas>
>;

/** The schemas of the objects in events. */
export const EVENT_OBJECT_SCHEMAS = Object.fromEntries(
  kindsWith("events").map((kind): [string, TSchema] => [
    kind,
    kind === "webhook_endpoint" ? WebhookEndpoint : OBJECT_SCHEMAS[kind].object,
  ]),
) as Readonly<Record<KindWith<"events">, TSchema>>;

function schemasOf(kind: ObjectKind): ObjectSchemas {
  const { label: name, fields = {}, statuses = {}, actions = {}, updatable, deletable } = resourceOf(kind);
  const noun = nounOf(kind);
  const [initial] = Object.keys(statuses);
  const inputs = inputFieldsOf(kind);
  const object = Type.Object(
    {
      id: idOf(kind),
      object: Type.Literal(kind),
      ...schemasBy(Object.entries(fields), (field) => {
        const value = valueSchema(kind, field);
        return field.required || field.type === "status" ? value : nullable(value);
      }),
      metadata: Metadata,
      livemode: Livemode,
      created: Timestamp,
    },
    { $id: name, description: withArticle(noun).replace("a", "A") },
  );
  const create = schemasBy(inputs, (field) => {
    const value = inputSchema(kind, field);
    return field.required ? value : Type.Optional(nullable(value));
  });
  const update = schemasBy(inputs, (field) => {
    const value = inputSchema(kind, field);
    return Type.Optional(field.required ? value : nullable(value));
  });
  const filters = schemasBy(
    Object.entries(fields).filter(([, { filter }]) => filter),
    (field) => Type.Optional(filterSchema(kind, field)),
  );
  return {
    object,
    list: listOf(object, `${name}List`),
    query: listQuery({ ...filters, ...SEARCH_FILTERS }),
    create: closed(
      { ...create, metadata: Type.Optional(MetadataInput) },
      {
        $id: `${name}Create`,
        description: `Parameters of a new ${noun}${initial === undefined ? "" : `, initially ${initial}`}`,
      },
    ),
    update: updatable
      ? closed(
          { ...update, metadata: Type.Optional(MetadataPatch) },
          { $id: `${name}Update`, description: "Fields to update; omitted fields do not change" },
        )
      : undefined,
    deleted: deletable ? deleted(kind, `Deleted${name}`) : undefined,
    actions: Object.fromEntries(
      Object.entries(actions).flatMap(([verb, { about, takes }]) => {
        if (takes === undefined) return [];
        const parameters = schemasBy(Object.entries(takes), (preset, field) =>
          Type.Optional(inputSchema(kind, { ...fields[field]!, examples: [preset] })),
        );
        const $id = name + verb.charAt(0).toUpperCase() + verb.slice(1);
        return [[verb, closed(parameters, { $id, description: `Parameters to ${lowerFirst(about)}` })]];
      }),
    ),
  };
}

function schemasBy<Value>(
  entries: readonly (readonly [name: string, value: Value])[],
  schemaOf: (value: Value, name: string) => TSchema,
): Record<string, TSchema> {
  return Object.fromEntries(entries.map(([name, value]) => [name, schemaOf(value, name)]));
}

/** Returns the schema of a field's value: as in responses, or with the limits of requests. */
function valueSchema(kind: ObjectKind, { type, about, examples, of }: Field, limits: object = {}): TSchema {
  const options = { description: about, ...(examples && { examples: examples.slice(0, 1) }), ...limits };
  switch (type) {
    case "email":
    case "phone":
    case "currency":
      return Type.String({ format: type, ...options });
    case "amount":
      return Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, ...options });
    case "status":
      return Type.Enum(Object.keys(resourceOf(kind).statuses ?? {}), options);
    case "id":
      return idOf(of as IdKind, options);
    case "text":
    case "code":
      return Type.String(options);
    default:
      throw new Error(`A field of type ${type} needs schemas of its own`);
  }
}

function inputSchema(kind: ObjectKind, field: Field): TSchema {
  return valueSchema(kind, field, REQUEST_LIMITS[field.type]);
}

/** Any text can be searched for; an ID or a status must be well-formed. */
function filterSchema(kind: ObjectKind, field: Field): TSchema {
  if (field.type === "id")
    return valueSchema(kind, { ...field, about: `${resourceOf(kind).labels} of this ${field.of}` });
  if (field.type === "status") return valueSchema(kind, field);
  const { label, unique, examples } = field;
  const description = `Exact ${label.toLowerCase()}${unique ? ", ignoring case" : ""}`;
  return Type.String({ description, ...(examples && { examples: examples.slice(0, 1) }) });
}
