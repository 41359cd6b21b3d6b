import { type FieldTypeName, typeOf } from "../../contract/field-types.ts";
import { type Field, inputFieldsOf, kindsWith, type KindWith, RESOURCES } from "../../contract/resources.ts";
import type { Fields, InputOf, NameOf, SecretNamesOf, ValueOf } from "../../contract/schemas/fields.ts";
import { formatTimestamp, parseTimestamp } from "../../contract/timestamps.ts";
import type { SqlValue } from "./database.ts";
import type { ColumnTypes } from "./migrations/migration.ts";

export function columnTypeOf(type: FieldTypeName, { id, integer }: ColumnTypes): string {
  const { stored } = typeOf(type);
  if (stored === "id") return id;
  return stored === "integer" || stored === "time" ? integer : stored === "boolean" ? "INTEGER" : "TEXT";
}

export function columnOf(name: string, { stored = name }: Field): string {
  return stored;
}

/** The columns of the fields that requests set. */
export type StoredFields<Kind extends KindWith<"fields">> = {
  [Name in InputOf<Kind>]: StoredOf<Fields<Kind>[Name], ValueOf<Kind, Name>>;
} & { [Name in SecretNamesOf<Kind>]: string };

type StoredOf<One, Value> = One extends { secret: string }
  ? Uint8Array | null
  : One extends { type: "list" | "map" }
    ? string
    : One extends { type: "boolean" }
      ? number
      : One extends { type: "expiry" }
        ? number | Extract<Value, null>
        : Value;

interface StoredField {
  name: string;
  column: string;
  type: FieldTypeName;
  isInput: boolean;
  /** True for a map whose values are secret: sealed by `changedMaps`, and null if it is empty. */
  isSealed: boolean;
}

/** The fields of each resource that have a column of their name. */
const STORED = Object.fromEntries(
  kindsWith("fields").map((kind): [KindWith<"fields">, StoredField[]] => {
    const inputs = new Set(inputFieldsOf(kind).map(([name]) => name));
    const fields = Object.entries<Field>(RESOURCES[kind].fields).flatMap(([name, field]): StoredField[] => {
      const { type, secret } = field;
      const isInput = inputs.has(name);
      const own = { name, column: columnOf(name, field), type, isInput, isSealed: secret !== undefined };
      if (secret === undefined) return [own];
      return [own, { name: secret, column: secret, type: "list", isInput, isSealed: false }];
    });
    return [kind, fields];
  }),
) as unknown as Readonly<Record<KindWith<"fields">, readonly StoredField[]>>;

function storedInputsOf(kind: KindWith<"fields">): readonly StoredField[] {
  return STORED[kind].filter(({ isInput }) => isInput);
}

/** Returns the columns of the fields that requests set. */
export function columnsOf<Kind extends KindWith<"fields">>(kind: Kind): (keyof StoredFields<Kind>)[] {
  return storedInputsOf(kind).map(({ column }) => column);
}

/** Returns what a new row holds of a request's fields. */
export function storedFields<Kind extends KindWith<"fields">>(kind: Kind, input: object): StoredFields<Kind> {
  const given = input as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    storedInputsOf(kind).map((field) => [field.column, columnValueOf(field, given[field.name])]),
  ) as StoredFields<Kind>;
}

/** Returns what a changed row holds of the fields that a request gives. */
export function storedChanges<Kind extends KindWith<"fields">>(kind: Kind, input: object): Partial<StoredFields<Kind>> {
  const given = input as Readonly<Record<string, unknown>>;
  const changed = storedInputsOf(kind).filter(({ name }) => given[name] !== undefined);
  return Object.fromEntries(changed.map((field) => [field.column, columnValueOf(field, given[field.name])])) as Partial<
    StoredFields<Kind>
  >;
}

function columnValueOf({ type, isSealed }: StoredField, value: unknown): SqlValue {
  return isSealed ? ((value ?? null) as SqlValue) : toStored(type, value);
}

type ValuesOf<Kind extends KindWith<"fields">> = { [Name in NameOf<Kind>]: ValueOf<Kind, Name> } & {
  [Name in SecretNamesOf<Kind>]: string[];
};

/** Returns the fields of a row as the API shows them. */
export function valuesOf<Kind extends KindWith<"fields">>(kind: Kind, row: object): ValuesOf<Kind> {
  const columns = row as Readonly<Record<string, SqlValue>>;
  const values: Record<string, unknown> = {};
  for (const { name, column, type, isSealed } of STORED[kind]) {
    if (!isSealed) values[name] = fromStored(type, columns[column]);
  }
  return values as ValuesOf<Kind>;
}

/** Returns a value of the API as its column holds it. */
export function toStored(type: FieldTypeName, value: unknown): SqlValue {
  const { stored } = typeOf(type);
  if (value === undefined || value === null)
    return stored === "json" ? (type === "map" ? "{}" : "[]") : stored === "boolean" ? 0 : null;
  switch (stored) {
    case "json":
      return JSON.stringify(value);
    case "boolean":
      return value === true ? 1 : 0;
    case "time":
      return parseTimestamp(value as string)!;
    default:
      return value as SqlValue;
  }
}

/** Returns the value of a column as the API shows it. */
export function fromStored(type: FieldTypeName, value: SqlValue | undefined): unknown {
  if (value === undefined || value === null) return null;
  switch (typeOf(type).stored) {
    case "json":
      return JSON.parse(value as string);
    case "boolean":
      return value === 1;
    case "time":
      return formatTimestamp(value as number);
    default:
      return value;
  }
}
