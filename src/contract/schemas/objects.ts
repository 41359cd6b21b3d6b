import { type TObject, type TSchema, Type } from "typebox";
import {
  choicesOf,
  type Field,
  kindsWith,
  type KindWith,
  lowerFirst,
  nounOf,
  nounsOf,
  OBJECT_KINDS,
  type ObjectKind,
  resourceOf,
  withArticle,
} from "../resources.ts";
import {
  changes,
  Created,
  createSchemas,
  deleted,
  idOf,
  inputSchema,
  listOf,
  listQuery,
  Livemode,
  named,
  objectOf,
  parameters,
  SEARCH_FILTERS,
  text,
  updateSchemas,
  valueSchema,
  valueSchemas,
} from "./fields.ts";
import type { IdKind } from "../ids.ts";
import { WebhookEndpoint } from "./webhook-endpoint.ts";
import { capitalized } from "../words.ts";

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

export const OBJECT_SCHEMAS = Object.fromEntries(OBJECT_KINDS.map((kind) => [kind, schemasOf(kind)])) as Readonly<
  Record<ObjectKind, ObjectSchemas>
>;

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
  const object = named(name, withArticle(noun).replace("a", "A"), {
    id: idOf(kind),
    object: objectOf(kind),
    ...valueSchemas(kind),
    livemode: Livemode,
    created: Created,
  });
  const filters = schemasBy(
    Object.entries(fields).filter(([, { filter }]) => filter),
    (field) => Type.Optional(filterSchema(kind, field)),
  );
  return {
    object,
    list: listOf(object, `${name}List`),
    query: listQuery({ ...filters, ...SEARCH_FILTERS }),
    create: parameters(
      `${name}Create`,
      `Parameters of a new ${noun}${initial === undefined ? "" : `, initially ${initial}`}`,
      createSchemas(kind),
    ),
    update: updatable ? changes(`${name}Update`, updateSchemas(kind)) : undefined,
    deleted: deletable ? deleted(kind, `Deleted${name}`) : undefined,
    actions: Object.fromEntries(
      Object.entries(actions).flatMap(([verb, { about, takes }]) => {
        if (takes === undefined) return [];
        const presets = schemasBy(Object.entries(takes), (preset, field) =>
          Type.Optional(inputSchema(kind, { ...fields[field]!, examples: [preset] })),
        );
        return [[verb, parameters(name + capitalized(verb), `Parameters to ${lowerFirst(about)}`, presets)]];
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

/** Any text can be searched for; an ID or one of a few values must be well-formed. */
function filterSchema(kind: ObjectKind, field: Field): TSchema {
  if (field.type === "id") return idOf(field.of as IdKind, `Only ${nounsOf(kind)} of this ${field.of}`);
  if (choicesOf(kind, field) !== undefined) return valueSchema(kind, field);
  const { label, unique, examples } = field;
  const description = `Exact ${label.toLowerCase()}${unique ? ", ignoring case" : ""}`;
  return text(description, examples?.[0] as string | undefined);
}
