import { type TSchema, type TSchemaOptions, Type } from "typebox";
import { type IdKind, nounOfId } from "../ids.ts";
import { LIMITS } from "../limits.ts";

/** Fields that several resources share. Formats (`email`, `phone`, `timestamp` …) are checked by the platform. */
const METADATA_EXAMPLE = { plan: "team" };

const METADATA_LIMITS = `at most ${LIMITS.metadataKeys} keys of ${LIMITS.metadataKeyLength} characters, values of ${LIMITS.metadataValueLength}`;

export const Metadata = Type.Record(Type.String(), Type.String(), {
  description: `String pairs: ${METADATA_LIMITS}`,
  examples: [METADATA_EXAMPLE],
});

export const MetadataInput = Type.Record(
  Type.String({ pattern: `^[\\s\\S]{1,${LIMITS.metadataKeyLength}}$` }),
  Type.String({ maxLength: LIMITS.metadataValueLength }),
  {
    maxProperties: LIMITS.metadataKeys,
    additionalProperties: false,
    description: `Your own string pairs: ${METADATA_LIMITS}`,
    examples: [METADATA_EXAMPLE],
  },
);

/** Merged into the existing metadata; `null` or an empty string removes a key. */
export const MetadataPatch = Type.Record(
  Type.String({ pattern: `^[\\s\\S]{1,${LIMITS.metadataKeyLength}}$` }),
  Type.Union([Type.String({ maxLength: LIMITS.metadataValueLength }), Type.Null()]),
  {
    maxProperties: LIMITS.metadataKeys,
    additionalProperties: false,
    description: "Merged into the existing metadata; null or an empty string removes a key",
    examples: [METADATA_EXAMPLE],
  },
);

export function timestamp(description: string) {
  return Type.String({ format: "timestamp", description });
}

export const Created = timestamp("When it was created: YYYY-MM-DDTHH:MM:SSZ, UTC");

export function idOf(kind: IdKind, options: object = {}) {
  return Type.String({ description: `ID of the ${nounOfId(kind)}`, ...options, format: `${kind}-id` });
}

/** The member `object`, which tells kinds of objects apart. */
export function objectOf<const Name extends string>(name: Name) {
  return Type.Literal(name, { description: "Kind of the object" });
}

export const Livemode = Type.Boolean({ description: "False in the sandbox", examples: [false] });

export function nullable<Schema extends TSchema>(schema: Schema, options: TSchemaOptions = {}) {
  return Type.Union([schema, Type.Null()], options);
}

/** Options of a member that is null in the state that examples show. */
export const NULL_IN_EXAMPLES = { examples: [null] };

/**
 * A secret that only one response shows: the one that creates it. `x-secret` marks it, also in the OpenAPI document.
 */
export function secretShownOnce(description: string, example: string) {
  return Type.String({ description, "x-secret": true, examples: [example] });
}

/** An object with the named fields and no others. */
export function closed<Properties extends Record<string, TSchema>>(properties: Properties, options: object = {}) {
  return Type.Object(properties, { ...options, additionalProperties: false });
}

/** Query of every list: page size and cursor, and the filters of the resource. */
export function listQuery<Filters extends Record<string, TSchema>>(filters: Filters) {
  return closed({
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: LIMITS.maxPageSize,
        default: LIMITS.pageDefault,
        description: "Maximum number of items per page. There are fewer if they exceed 4 MiB together",
      }),
    ),
    cursor: Type.Optional(
      // Without an example: a cursor is signed, so only a returned one is valid.
      Type.String({ description: "`next_cursor` of the previous page, with the same filters" }),
    ),
    ...filters,
  });
}

/** Query of a list without filters. */
export const ListQuery = listQuery({});

export const CREATED_FILTERS = {
  created_after: Type.Optional(
    Type.String({ format: "timestamp", description: "Only items created after this time (UTC)" }),
  ),
  created_before: Type.Optional(
    Type.String({
      format: "timestamp",
      description: "Only items created before this time (UTC); must be later than `created_after`",
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
        `Or up to ${LIMITS.maxPageSize} IDs, separated by commas, to find what contains any of them. ` +
        `A request searches ${LIMITS.searchedRows} items of at most 4 MiB`,
      examples: ["ada@example.com"],
    }),
  ),
  ...CREATED_FILTERS,
};

/** A page of a list, newest first. */
export function listOf<Item extends TSchema>(item: Item, name: string) {
  return Type.Object(
    {
      object: objectOf("list"),
      data: Type.Array(item, { description: "The items of the page" }),
      has_more: Type.Boolean({ description: "True if there are more items after this page", examples: [false] }),
      next_cursor: nullable(
        Type.String({ description: "Cursor of the next page; null on the last page" }),
        NULL_IN_EXAMPLES,
      ),
    },
    { $id: name, description: "A page of a list, newest first" },
  );
}

/** The response of DELETE. */
export function deleted<Name extends IdKind>(object: Name, schemaName: string) {
  return Type.Object(
    {
      id: idOf(object),
      object: objectOf(object),
      deleted: Type.Literal(true, { description: "Confirms the deletion" }),
    },
    { $id: schemaName, description: "A deleted resource" },
  );
}
