import { type TSchema, Type } from "typebox";
import { LIMITS } from "../limits.ts";

/** Fields that several resources share. Formats (`email`, `phone`, `timestamp` …) are checked by the platform. */
export const Metadata = Type.Record(Type.String(), Type.String(), {
  description: `String pairs: at most ${LIMITS.metadataKeys} keys of ${LIMITS.metadataKeyLength} characters, values of ${LIMITS.metadataValueLength}`,
});

export const MetadataInput = Type.Record(
  Type.String({ pattern: `^[\\s\\S]{1,${LIMITS.metadataKeyLength}}$` }),
  Type.String({ maxLength: LIMITS.metadataValueLength }),
  { maxProperties: LIMITS.metadataKeys, additionalProperties: false },
);

/** Merged into what is there; `null` or an empty string removes a key. */
export const MetadataPatch = Type.Record(
  Type.String({ pattern: `^[\\s\\S]{1,${LIMITS.metadataKeyLength}}$` }),
  Type.Union([Type.String({ maxLength: LIMITS.metadataValueLength }), Type.Null()]),
  { maxProperties: LIMITS.metadataKeys, additionalProperties: false },
);

export const Timestamp = Type.String({ format: "timestamp", description: "YYYY-MM-DDTHH:MM:SSZ, UTC" });
export const Amount = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: "In the currency's minor unit",
});
export const Currency = Type.String({ format: "currency", description: "ISO 4217, three uppercase letters" });

export function nullable<Schema extends TSchema>(schema: Schema) {
  return Type.Union([schema, Type.Null()]);
}

/** An object that takes the named fields and no others. */
export function closed<Properties extends Record<string, TSchema>>(properties: Properties, options: object = {}) {
  return Type.Object(properties, { ...options, additionalProperties: false });
}

/** Query of every list: page size and cursor, and the filters of the resource. */
export function listQuery<Filters extends Record<string, TSchema>>(filters: Filters) {
  return closed({
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIMITS.pageMost, default: LIMITS.pageDefault })),
    cursor: Type.Optional(Type.String()),
    ...filters,
  });
}

export const CREATED_FILTERS = {
  created_after: Type.Optional(Timestamp),
  created_before: Type.Optional(Timestamp),
};

/** A page of a list, newest first. */
export function listOf<Item extends TSchema>(item: Item, name: string) {
  return Type.Object(
    {
      object: Type.Literal("list"),
      data: Type.Array(item),
      has_more: Type.Boolean(),
      next_cursor: nullable(Type.String()),
    },
    { $id: name },
  );
}

/** What DELETE answers. */
export function deleted<Name extends string>(object: Name, schemaName: string) {
  return Type.Object(
    { id: Type.String(), object: Type.Literal(object), deleted: Type.Literal(true) },
    { $id: schemaName },
  );
}
