import { type TOptional, type TSchema, type TSchemaOptions, type TUnsafe, Type } from "typebox";
import { type IdKind, nounOfId } from "../ids.ts";
import { LIMITS } from "../limits.ts";
import { type FIELD_TYPES, type FieldTypeName, itemTypeOf, typeOf } from "../field-types.ts";
import {
  choicesOf,
  type Field,
  inputFieldsOf,
  type KindWith,
  resourceOf,
  type RESOURCES,
  type StatusOf,
} from "../resources.ts";
import { type Scope, SCOPES } from "../scopes.ts";

type Members = Record<string, TSchema>;

const METADATA_EXAMPLE = { plan: "team" };

const METADATA_LIMITS = `at most ${LIMITS.metadataKeys} keys of ${LIMITS.metadataKeyLength} characters, values of ${LIMITS.metadataValueLength}`;

export const Metadata = Type.Record(Type.String(), Type.String(), {
  description: `String pairs: ${METADATA_LIMITS}`,
  examples: [METADATA_EXAMPLE],
});

function metadataInput<Value extends TSchema>(value: Value, description: string) {
  return Type.Record(Type.String({ pattern: `^[\\s\\S]{1,${LIMITS.metadataKeyLength}}$` }), value, {
    maxProperties: LIMITS.metadataKeys,
    additionalProperties: false,
    description,
    examples: [METADATA_EXAMPLE],
  });
}
const MetadataValue = Type.String({ maxLength: LIMITS.metadataValueLength });

export const MetadataInput = metadataInput(MetadataValue, `Your own string pairs: ${METADATA_LIMITS}`);

export const MetadataPatch = metadataInput(
  Type.Union([MetadataValue, Type.Null()]),
  "Merged into the existing metadata; null or an empty string removes a key",
);

/** Without an example, one is made from the type. */
function described(description: string, example?: unknown) {
  return { description, ...(example !== undefined && { examples: [example] }) };
}

export function text(description: string, example?: string) {
  return Type.String(described(description, example));
}

/** Text of a format that the platform checks, such as `email`. */
export function formatted(format: string, description: string, options: object = {}) {
  return Type.String({ format, description, ...options });
}

export function timestamp(description: string) {
  return formatted("timestamp", description);
}

export function integer(description: string, example?: number) {
  return Type.Integer(described(description, example));
}

export function decimal(description: string, example?: number) {
  return Type.Number(described(description, example));
}

export function count(description: string, example?: number) {
  return Type.Integer({ minimum: 0, ...described(description, example) });
}

export function flag(description: string, example?: boolean) {
  return Type.Boolean(described(description, example));
}

export function oneOf<const Value extends string | number>(
  values: readonly Value[],
  description: string,
  example?: Value,
) {
  return Type.Enum([...values], described(description, example));
}

export function several<Item extends TSchema>(item: Item, description: string) {
  return Type.Array(item, { description });
}

export function group<Own extends Members>(description: string, members: Own) {
  return Type.Object(members, { description });
}

/** A schema of its own in the OpenAPI document. */
export function named<Own extends Members>($id: string, description: string, members: Own) {
  return Type.Object(members, { $id, description });
}

/** The body of a request: it takes no other members. */
export function parameters<Own extends Members>($id: string, description: string, members: Own) {
  return closed(members, { $id, description });
}

/** The body of a request that updates an object. */
export function changes<Own extends Members>($id: string, members: Own) {
  return parameters($id, "Fields to update; omitted fields do not change", members);
}

export const Created = timestamp("When it was created: YYYY-MM-DDTHH:MM:SSZ, UTC");

export function idOf(kind: IdKind, description = `ID of the ${nounOfId(kind)}`, options: object = {}) {
  return Type.String({ description, ...options, format: `${kind}-id` });
}

/** The member `object`, which tells kinds of objects apart. */
export function objectOf<const Name extends string>(name: Name) {
  return Type.Literal(name, { description: "Kind of the object" });
}

export const Livemode = flag("False in the sandbox", false);

export function nullable<Schema extends TSchema>(schema: Schema, options: TSchemaOptions = {}) {
  return Type.Union([schema, Type.Null()], options);
}

/** A member that is null in the state that examples show. */
export function nullInExamples<Schema extends TSchema>(schema: Schema) {
  return nullable(schema, { examples: [null] });
}

/**
 * A secret that only one response shows: the one that creates it. `x-secret` marks it, also in the OpenAPI document.
 */
export function secretShownOnce(description: string, example: string) {
  return Type.String({ description, "x-secret": true, examples: [example] });
}

/** An object with the named fields and no others. */
export function closed<Own extends Members>(members: Own, options: object = {}) {
  return Type.Object(members, { ...options, additionalProperties: false });
}

/** Query of every list: page size and cursor, and the filters of the resource. */
export function listQuery<Filters extends Members>(filters: Filters) {
  return closed({
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: LIMITS.maxPageSize,
        default: LIMITS.pageDefault,
        description: "Maximum number of items per page. There are fewer if they exceed 4 MiB together",
      }),
    ),
    // Without an example: a cursor is signed, so only a returned one is valid.
    cursor: Type.Optional(text("`next_cursor` of the previous page, with the same filters")),
    ...filters,
  });
}

/** Query of a list without filters. */
export const ListQuery = listQuery({});

export const CREATED_FILTERS = {
  created_after: Type.Optional(timestamp("Only items created after this time (UTC)")),
  created_before: Type.Optional(
    formatted("timestamp", "Only items created before this time (UTC); must be later than `created_after`", {
      examples: ["2026-12-01T00:00:00Z"],
    }),
  ),
};

/** Filters of the lists that grow. */
export const SEARCH_FILTERS = {
  query: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: LIMITS.searchLength,
      pattern: "\\S",
      description:
        "Text that a value contains, ignoring case: an ID, an email address, a name, an amount such as 19.99, metadata. " +
        "A customer's address also finds the customer's orders, their payments, and the events and deliveries about these. " +
        `Or up to ${LIMITS.maxPageSize} IDs, separated by commas, to find what contains any of them. ` +
        `A request searches ${LIMITS.searchedRows} items of at most 4 MiB`,
      examples: ["ada@example.com"],
    }),
  ),
  ...CREATED_FILTERS,
};

/** A page of a list, newest first. */
export function listOf<Item extends TSchema>(item: Item, name: string) {
  return named(name, "A page of a list, newest first", {
    object: objectOf("list"),
    data: several(item, "The items of the page"),
    has_more: flag("True if there are more items after this page", false),
    next_cursor: nullInExamples(text("Cursor of the next page; null on the last page")),
  });
}

/** The response of DELETE. */
export function deleted<Name extends IdKind>(object: Name, schemaName: string) {
  return named(schemaName, "A deleted resource", {
    id: idOf(object),
    object: objectOf(object),
    deleted: Type.Literal(true, { description: "Confirms the deletion" }),
  });
}

/** Schemas of the fields in the table of resources, and the types of their values. */

type Kind = KindWith<"fields">;
type Apart = {
  [Type in FieldTypeName]: (typeof FIELD_TYPES)[Type]["stored"] extends "apart" ? Type : never;
}[FieldTypeName];
type Whole = {
  [Type in FieldTypeName]: (typeof FIELD_TYPES)[Type]["stored"] extends "integer" ? Type : never;
}[FieldTypeName];
export type Fields<Of extends Kind> = (typeof RESOURCES)[Of]["fields"];
export type NameOf<Of extends Kind> = {
  [Name in keyof Fields<Of>]: Fields<Of>[Name] extends { type: Apart } ? never : Name;
}[keyof Fields<Of>];
export type InputOf<Of extends Kind> = {
  [Name in NameOf<Of>]: Fields<Of>[Name] extends { type: "status" } | { output: true } ? never : Name;
}[NameOf<Of>];
type RequiredOf<Of extends Kind> = {
  [Name in InputOf<Of>]: Fields<Of>[Name] extends { required: true } ? Name : never;
}[InputOf<Of>];
type ChangeableOf<Of extends Kind> = {
  [Name in InputOf<Of>]: Fields<Of>[Name] extends { fixed: true } ? never : Name;
}[InputOf<Of>];

export type ValueOf<Of extends Kind, Name extends NameOf<Of>> =
  | PlainValueOf<Of, Fields<Of>[Name]>
  | (Fields<Of>[Name] extends { required: true } | { type: "status" | "boolean" | "list" } ? never : null);

type PlainValueOf<Of extends Kind, One> = One extends { type: "status" }
  ? Of extends KindWith<"statuses">
    ? StatusOf<Of>
    : never
  : One extends { of: "scope" }
    ? Scope[]
    : One extends { type: "list" }
      ? string[]
      : One extends { type: "boolean" }
        ? boolean
        : One extends { type: Whole }
          ? number
          : string;

/** Returns the schema of each field in responses. */
export function valueSchemas<Of extends Kind>(kind: Of): { [Name in NameOf<Of>]: TUnsafe<ValueOf<Of, Name>> } {
  const { fields = {} } = resourceOf(kind);
  return mapped(Object.entries(fields), (field) => orNull(field, valueSchema(kind, field))) as never;
}

/** Returns the schemas of a request that creates an object. */
export function createSchemas<Of extends Kind>(
  kind: Of,
): { [Name in RequiredOf<Of>]: TUnsafe<ValueOf<Of, Name>> } & {
  [Name in Exclude<InputOf<Of>, RequiredOf<Of>>]: TOptional<TUnsafe<ValueOf<Of, Name>>>;
} {
  return mapped(inputFieldsOf(kind), (field) => {
    const schema = orNull(field, inputSchema(kind, field));
    return field.required ? schema : Type.Optional(schema);
  }) as never;
}

/** Returns the schemas of a request that changes an object. */
export function updateSchemas<Of extends Kind>(
  kind: Of,
): { [Name in ChangeableOf<Of>]: TOptional<TUnsafe<ValueOf<Of, Name>>> } {
  const changeable = inputFieldsOf(kind).filter(([, { fixed }]) => !fixed);
  return mapped(changeable, (field) => Type.Optional(orNull(field, inputSchema(kind, field)))) as never;
}

/** Returns the schema of a field's value in responses. */
export function valueSchema(kind: Kind, field: Field): TSchema {
  return schemaOf(kind, field, "response", {});
}

/** Returns the schema of a field's value in requests, which has limits. */
export function inputSchema(kind: Kind, field: Field): TSchema {
  const { type, min, max } = field;
  const range = { ...(min !== undefined && { minimum: min }), ...(max !== undefined && { maximum: max }) };
  return schemaOf(kind, field, "request", { ...typeOf(type).limits, ...range });
}

function schemaOf(kind: Kind, field: Field, side: "request" | "response", limits: object = {}): TSchema {
  const { type, about, described, of = "", examples } = field;
  const stated = described?.[side] ?? described?.both;
  const description = stated ?? ("custom" in resourceOf(kind) ? undefined : about);
  const options = {
    ...(description && { description }),
    ...(examples && { examples: examples.slice(0, 1) }),
    ...limits,
  };
  if (type === "id") return idOf(of as IdKind, description, options);
  if (type === "list") return listSchema(of, side, { ...(description && { description }) });
  const choices = choicesOf(kind, field);
  return Type.Unsafe({ ...typeOf(type).schema, ...(choices && { enum: choices }), ...options });
}

function listSchema(of: string, side: "request" | "response", described: { description?: string }): TSchema {
  const { schema, itemLimits, limits } = itemTypeOf(of);
  const item = { ...schema, ...(of === "scope" && { enum: SCOPES }) };
  if (side === "response") return Type.Array(Type.Unsafe(item), described);
  const all = of === "scope" ? { ...limits, maxItems: SCOPES.length } : limits;
  return Type.Array(Type.Unsafe({ ...item, ...itemLimits }), { ...all, ...described });
}

/** A status, a list or a boolean has a value always. */
function orNull({ type, required }: Field, schema: TSchema): TSchema {
  const hasValue = required || type === "status" || ["boolean", "json"].includes(typeOf(type).stored);
  return hasValue ? schema : nullable(schema);
}

function mapped(
  fields: readonly (readonly [name: string, field: Field])[],
  schemaOf: (field: Field) => TSchema,
): Record<string, TSchema> {
  const own = fields.filter(([, { type }]) => typeOf(type).stored !== "apart");
  return Object.fromEntries(own.map(([name, field]) => [name, schemaOf(field)]));
}
