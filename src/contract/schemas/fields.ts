import { type TSchema, type TSchemaOptions, Type } from "typebox";
import { type IdKind, nounOfId } from "../ids.ts";
import { LIMITS } from "../limits.ts";

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
