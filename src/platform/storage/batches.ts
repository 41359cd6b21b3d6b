import type { SqlValue, Transaction } from "./database.ts";

/** Lengths of lists in statements: few, since each is a statement to prepare. In long ones a row costs a third less. */
const LENGTHS = [64, 32, 16, 4, 1] as const;
const LONGEST = 256;

/** Looks up many values by `IN (…)`. Lists are filled up with their first value to one of a few lengths. */
export async function inBatches<Value extends SqlValue, Row>(
  values: readonly Value[],
  find: (placeholders: string, batch: Value[]) => Promise<Row[]>,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (let start = 0; start < values.length; start += LONGEST) {
    const batch = values.slice(start, start + LONGEST);
    const length = LENGTHS.findLast((fitting) => fitting >= batch.length) ?? LONGEST;
    while (batch.length < length) batch.push(batch[0]!);
    rows.push(...(await find(batch.map((_value, index) => `$${index + 1}`).join(", "), batch)));
  }
  return rows;
}

/**
 * Returns a function that runs a statement for any number of rows, and returns how many rows that changed. `text` makes
 * the statement from the list of their placeholders, `($1, $2), ($3, $4)`. Lists are filled up to one of a few lengths
 * with rows of nulls, which the statement must ignore. They are sent together and executed in order.
 */
export function forRows<Row>(
  columns: number,
  text: (placeholders: string) => string,
  valuesOf: (row: Row) => readonly SqlValue[],
): (tx: Transaction, rows: readonly Row[]) => Promise<number> {
  const statements = LENGTHS.map((length) => ({ length, sql: text(placeholdersOf(length, columns)) }));
  return async (tx, rows) => {
    const runs: Promise<number>[] = [];
    for (let start = 0; start < rows.length; start += LENGTHS[0]) {
      const values = rows.slice(start, start + LENGTHS[0]).flatMap(valuesOf);
      const { length, sql } = statements.findLast((one) => one.length * columns >= values.length)!;
      while (values.length < length * columns) values.push(null);
      runs.push(tx.run(sql, values));
    }
    return (await Promise.all(runs)).reduce((sum, changed) => sum + changed, 0);
  };
}

/** Adds a row whose members are named as their columns. Returns how many rows were added. */
export function insertRow<Row extends object>(
  tx: Transaction,
  table: string,
  row: { readonly [Column in keyof Row]: SqlValue },
  conflict = "",
): Promise<number> {
  const columns = Object.keys(row);
  return tx.run(
    `INSERT INTO ${table} (${columns.join(", ")}) VALUES ${placeholdersOf(1, columns.length)} ${conflict}`,
    Object.values<SqlValue>(row),
  );
}

/** Writes columns of the row with the same key. Returns how many rows were changed. */
export function updateRow<Row extends object>(
  tx: Transaction,
  table: string,
  row: Row,
  key: readonly (keyof Row & string)[],
  columns: readonly (keyof Row & string)[],
): Promise<number> {
  const values: SqlValue[] = [];
  const equal = (column: keyof Row & string) => `${column} = $${values.push(row[column] as SqlValue)}`;
  const set = columns.map(equal).join(", ");
  return tx.run(`UPDATE ${table} SET ${set} WHERE ${key.map(equal).join(" AND ")}`, values);
}

/** Deletes the first rows of a table that a condition selects, at most `limit`. Returns how many. */
export function deleteFirst(
  tx: Transaction,
  { table, key, where, order = key }: { table: string; key: string; where: string; order?: string },
  parameters: readonly SqlValue[],
  limit: number,
): Promise<number> {
  const some = `SELECT ${key} FROM ${table} WHERE ${where} ORDER BY ${order} LIMIT $${parameters.length + 1}`;
  return tx.run(`DELETE FROM ${table} WHERE (${key}) IN (${some})`, [...parameters, limit]);
}

export function insertRows<Row>(
  table: string,
  columns: readonly (keyof Row & string)[],
  conflict = "",
): (tx: Transaction, rows: readonly Row[]) => Promise<void> {
  const insert = `INSERT INTO ${table} (${columns.join(", ")}) VALUES`;
  const statements = LENGTHS.map((length) => ({
    length,
    sql: `${insert} ${placeholdersOf(length, columns.length)} ${conflict}`,
  }));
  const valuesOf = (row: Row) => columns.map((column) => row[column] as SqlValue);
  return async (tx, rows) => {
    const runs: Promise<unknown>[] = [];
    let start = 0;
    for (const { length, sql } of statements) {
      for (; rows.length - start >= length; start += length) {
        runs.push(tx.run(sql, rows.slice(start, start + length).flatMap(valuesOf)));
      }
    }
    await Promise.all(runs);
  };
}

function placeholdersOf(rows: number, columns: number): string {
  const row = (index: number) =>
    `(${Array.from({ length: columns }, (_, column) => `$${index * columns + column + 1}`).join(", ")})`;
  return Array.from({ length: rows }, (_, index) => row(index)).join(", ");
}
