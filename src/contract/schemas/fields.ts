import { type TOptional, type TSchema, type TSchemaOptions, type TUnsafe, Type } from "typebox";
import { type IdKind, nounOfId } from "../ids.ts";
import { LIMITS } from "../limits.ts";
import { itemTypeOf, pairTypeOf, typeOf } from "../field-types.ts";
import {
  choicesOf,
  type Field,
  inputFieldsOf,
  type KindWith,
  lowerFirst,
  resourceOf,
  type RESOURCES,
  type StatusOf,
} from "../resources.ts";
import { type Scope, SCOPES } from "../scopes.ts";

type Members = Record<string, TSchema>;

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
/** The values of types that are not text. */
interface ValuesByType {
  amount: number;
  number: number;
  boolean: boolean;
  list: string[];
  map: Record<string, string>;
}
export type Fields<Of extends Kind> = (typeof RESOURCES)[Of]["fields"];
export type NameOf<Of extends Kind> = {
  [Name in keyof Fields<Of>]: Fields<Of>[Name] extends { secret: string } ? never : Name;
}[keyof Fields<Of>];
/** The members with the names of maps whose values are secret. */
export type SecretNamesOf<Of extends Kind> = Extract<Fields<Of>[keyof Fields<Of>], { secret: string }>["secret"];
export type InputOf<Of extends Kind> = {
  [Name in keyof Fields<Of>]: Fields<Of>[Name] extends { type: "status" } | { output: true } ? never : Name;
}[keyof Fields<Of>];
type RequiredOf<Of extends Kind> = {
  [Name in InputOf<Of>]: Fields<Of>[Name] extends { required: true } ? Name : never;
}[InputOf<Of>];
type ChangeableOf<Of extends Kind> = {
  [Name in InputOf<Of>]: Fields<Of>[Name] extends { fixed: true } ? never : Name;
}[InputOf<Of>];

export type ValueOf<Of extends Kind, Name extends keyof Fields<Of>> =
  | PlainValueOf<Of, Fields<Of>[Name]>
  | (Fields<Of>[Name] extends { secret: string }
      ? null
      : Fields<Of>[Name] extends { required: true } | { type: "status" | "boolean" | "list" | "map" }
        ? never
        : null);
type ChangeOf<Of extends Kind, Name extends keyof Fields<Of>> = Fields<Of>[Name] extends { type: "map" }
  ? Record<string, string | null> | Extract<ValueOf<Of, Name>, null>
  : ValueOf<Of, Name>;

type PlainValueOf<Of extends Kind, One> = One extends { type: "status" }
  ? Of extends KindWith<"statuses">
    ? StatusOf<Of>
    : never
  : One extends { of: "scope" }
    ? Scope[]
    : One extends { type: keyof ValuesByType }
      ? ValuesByType[One["type"]]
      : string;

/** Returns the schema of each field in responses. */
export function valueSchemas<Of extends Kind>(
  kind: Of,
): { [Name in NameOf<Of>]: TUnsafe<ValueOf<Of, Name>> } & { [Name in SecretNamesOf<Of>]: TUnsafe<string[]> } {
  const { fields = {} } = resourceOf(kind);
  const members = Object.entries(fields).map(([name, field]): [name: string, schema: TSchema] => {
    const { secret, label, described } = field;
    if (secret === undefined) return [name, orNull(field, valueSchema(kind, field))];
    const item = Type.String({ examples: pairOf(field).slice(0, 1) });
    return [secret, several(item, described?.response ?? `Names of the ${lowerFirst(label)}, without values`)];
  });
  return Object.fromEntries(members) as never;
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
): { [Name in ChangeableOf<Of>]: TOptional<TUnsafe<ChangeOf<Of, Name>>> } {
  const changeable = inputFieldsOf(kind).filter(([, { fixed }]) => !fixed);
  return mapped(changeable, (field) => {
    const schema = field.type === "map" ? mapSchema(field, "request", "", true) : inputSchema(kind, field);
    return Type.Optional(orNull(field, schema));
  }) as never;
}

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
  if (type === "map") return mapSchema(field, side, description);
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

/** Returns the schema of a map; with `isChange`, of what is merged into the existing one. */
function mapSchema(field: Field, side: "request" | "response", stated?: string, isChange = false): TSchema {
  const { of, label, flag: singular = "key", secret, examples } = field;
  const { value, maxPairs, maxNameLength } = pairTypeOf(of);
  const limits = `At most ${maxPairs} keys of ${maxNameLength} characters, values of ${value.maxLength}`;
  const removal = `null or an empty string removes a ${singular}${secret ? ", null for all removes them" : ""}`;
  const options = {
    description: isChange
      ? `Merged into the existing ${lowerFirst(label)}; ${removal}`
      : `${stated ?? label}. ${limits}`,
    ...(examples && { examples: [Object.fromEntries([pairOf(field)])] }),
  };
  if (side === "response") return Type.Record(Type.String(), Type.String(), options);
  const one = Type.Unsafe(value);
  return Type.Record(Type.String({ pattern: `^[\\s\\S]{1,${maxNameLength}}$` }), isChange ? nullable(one) : one, {
    maxProperties: maxPairs,
    additionalProperties: false,
    ...options,
    ...(secret && { "x-secret": true }),
  });
}

/** Returns the example of a map: a name and its value. */
function pairOf({ of, examples: [example = ""] = [] }: Field): string[] {
  return String(example).split(pairTypeOf(of).separator);
}

/** A status, a list, a map or a boolean has a value always. Only null removes all of a map that cannot be read. */
function orNull({ type, required, secret }: Field, schema: TSchema): TSchema {
  const isStoredAlways = ["boolean", "json"].includes(typeOf(type).stored) && secret === undefined;
  const hasValue = required || type === "status" || isStoredAlways;
  return hasValue ? schema : nullable(schema);
}

function mapped(
  fields: readonly (readonly [name: string, field: Field])[],
  schemaOf: (field: Field) => TSchema,
): Record<string, TSchema> {
  return Object.fromEntries(fields.map(([name, field]) => [name, schemaOf(field)]));
}
