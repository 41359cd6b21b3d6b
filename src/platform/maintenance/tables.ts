import type { Queries } from "../storage/database.ts";

/** A table to be copied, as the SQLite file has it. */
export interface TableShape {
  name: string;
  columns: readonly string[];
  /** The primary key's columns, in its order. */
  key: readonly string[];
}

/** What each database writes itself: counts follow the rows that are copied. */
const OWN = new Set(["schema_migrations", "sqlite_sequence", "event_counts", "attempt_counts", "pending_counts"]);

/** The tables of an SQLite file, in the order in which they were made: none refers to a later one. */
export async function tablesOf(source: Queries): Promise<TableShape[]> {
  const tables = await source.all<{ name: string }>(
    "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY rowid",
  );
  const shapes = tables
    .filter(({ name }) => !OWN.has(name))
    .map(async ({ name }) => {
      const columns = await source.all<{ name: string; pk: number }>(
        "SELECT name, pk FROM pragma_table_info($1) ORDER BY cid",
        [name],
      );
      const key = columns.filter(({ pk }) => pk > 0).toSorted((a, b) => a.pk - b.pk);
      return { name, columns: columns.map((column) => column.name), key: key.map((column) => column.name) };
    });
  return Promise.all(shapes);
}
