import type { SqlValue, Transaction } from "./database.ts";

/** Lengths of lists in statements: few, since each is a statement to prepare. In long ones a row costs a third less. */
const LENGTHS = [64, 16, 4, 1] as const;
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

/** Runs a statement for any number of rows, and returns the rows that it returned. */
export type RunForRows<Row, Returned = unknown> = (tx: Transaction, rows: readonly Row[]) => Promise<Returned[]>;

/**
 * Returns a function that runs a statement for lists of rows. `text` makes the statement from the list of their
 * placeholders, `($1, $2), ($3, $4)`. The statements of one list are sent together and executed in order.
 */
export function forRows<Row, Returned = unknown>(
  columns: number,
  text: (placeholders: string) => string,
  valuesOf: (row: Row) => readonly SqlValue[],
): RunForRows<Row, Returned> {
  const statements = LENGTHS.map((length) => ({ length, sql: text(placeholdersOf(length, columns)) }));
  return async (tx, rows) => {
    const runs: Promise<Returned[]>[] = [];
    let start = 0;
    for (const { length, sql } of statements) {
      for (; rows.length - start >= length; start += length) {
        runs.push(tx.all(sql, rows.slice(start, start + length).flatMap(valuesOf)));
      }
    }
    return (await Promise.all(runs)).flat();
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

/** Returns a function that adds rows to a table. */
export function insertRows<Row>(
  table: string,
  columns: readonly (keyof Row & string)[],
  conflict: "" | "ON CONFLICT DO NOTHING" = "",
): RunForRows<Row> {
  const insert = `INSERT INTO ${table} (${columns.join(", ")}) VALUES`;
  return forRows<Row>(
    columns.length,
    (rows) => `${insert} ${rows} ${conflict}`,
    (row) => columns.map((column) => row[column] as SqlValue),
  );
}

function placeholdersOf(rows: number, columns: number): string {
  const row = (index: number) =>
    `(${Array.from({ length: columns }, (_, column) => `$${index * columns + column + 1}`).join(", ")})`;
  return Array.from({ length: rows }, (_, index) => row(index)).join(", ");
}
