import type { FieldTypeName } from "../../../contract/field-types.ts";
import { columnTypeOf } from "../field-values.ts";
import { type ColumnTypes, environmentOf } from "./migration.ts";

/** The type of a field, with `?` if its value may be null. */
type ColumnOf = FieldTypeName | `${FieldTypeName}?`;

/**
 * Returns the statements of the table of a resource that its fields describe: a column for each field, and an index for
 * each filter. A unique field has a second column, which compares it in lower case.
 */
export function objectTable(
  types: ColumnTypes,
  table: string,
  columns: Readonly<Record<string, ColumnOf>>,
  filters: readonly string[] = [],
  unique: readonly string[] = [],
): string[] {
  const { id, integer, clustered } = types;
  const keys = unique.map((name) => [`${name}_key`, columns[name]!] as const);
  const own = [...Object.entries(columns), ...keys].map(([name, type]) => fieldColumn(types, name, type));
  return [
    `CREATE TABLE ${table} (
       ${environmentOf(types)}, id ${id} NOT NULL, ${own.join(", ")}, created ${integer} NOT NULL,
       PRIMARY KEY (environment, id)) ${clustered}`,
    ...filters.map((name) => `CREATE INDEX ${table}_by_${name} ON ${table} (environment, ${name}, id)`),
    ...unique.map((name) => `CREATE UNIQUE INDEX ${table}_by_${name} ON ${table} (environment, ${name}_key)`),
  ];
}

/** Returns the column of a field, for `CREATE TABLE` and `ADD COLUMN`. */
export function fieldColumn(types: ColumnTypes, name: string, type: ColumnOf): string {
  const isOptional = type.endsWith("?");
  const column = columnTypeOf((isOptional ? type.slice(0, -1) : type) as FieldTypeName, types);
  return `${name} ${column}${isOptional ? "" : " NOT NULL"}`;
}
