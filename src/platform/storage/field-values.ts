import { type FieldTypeName, typeOf } from "../../contract/field-types.ts";
import { formatTimestamp, parseTimestamp } from "../../contract/timestamps.ts";
import type { SqlValue } from "./database.ts";
import type { ColumnTypes } from "./migrations/migration.ts";

/** Returns the type of the column of a field. */
export function columnTypeOf(type: FieldTypeName, { id, integer }: ColumnTypes): string {
  const { stored } = typeOf(type);
  if (stored === "id") return id;
  return stored === "integer" || stored === "time" ? integer : stored === "boolean" ? "INTEGER" : "TEXT";
}

/** Returns a value of the API as its column holds it. */
export function toStored(type: FieldTypeName, value: unknown): SqlValue {
  if (value === undefined || value === null) return null;
  switch (typeOf(type).stored) {
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
