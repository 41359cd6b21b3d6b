import { type Field, OBJECT_KINDS, type ObjectKind, RESOURCES } from "../../contract/resources.ts";
import { changesRow, type Queries, type SqlValue, type Transaction } from "./database.ts";
import { columnOf } from "./field-values.ts";
import { type Filters, type PageRequest, readMergedPage, readPage } from "./page.ts";

/** A row of a resource that the table of resources describes by its fields: one column per field, by `columnOf`. */
export interface ObjectRow {
  environment: number;
  id: string;
  /** Unix milliseconds on the environment's clock. */
  created: number;
  [column: string]: SqlValue;
}

interface Statements {
  columns: readonly string[];
  insert: string;
  update: string;
  find: string;
}

const STATEMENTS = Object.fromEntries(OBJECT_KINDS.map((kind) => [kind, statementsOf(kind)])) as Readonly<
  Record<ObjectKind, Statements>
>;

/** Returns the column with the lower-case value of a unique field, which the database compares. */
export function keyColumnOf(name: string): string {
  return `${name}_key`;
}

/** Inserts a row. Returns false, and changes nothing, if the value of a unique field is taken in the environment. */
export function insertObject(tx: Transaction, kind: ObjectKind, row: ObjectRow): Promise<boolean> {
  const { insert, columns } = STATEMENTS[kind];
  return changesRow(tx, insert, valuesOf(row, columns));
}

/** Writes all fields of a row. */
export async function updateObject(tx: Transaction, kind: ObjectKind, row: ObjectRow): Promise<void> {
  const { update, columns } = STATEMENTS[kind];
  await tx.run(update, valuesOf(row, columns));
}

export async function deleteObject(tx: Transaction, kind: ObjectKind, environment: number, id: string): Promise<void> {
  await tx.run(`DELETE FROM ${RESOURCES[kind].plural} WHERE environment = $1 AND id = $2`, [environment, id]);
}

/** Moves an object from its initial to a final status. Returns false if it has another status or does not exist. */
export function moveObject(
  tx: Transaction,
  kind: ObjectKind,
  row: { environment: number; id: string },
  { from, to, set }: { from: string; to: string; set: Readonly<Record<string, SqlValue>> },
): Promise<boolean> {
  const assignments = Object.keys(set).map((column, index) => `, ${column} = $${index + 5}`);
  return changesRow(
    tx,
    `UPDATE ${RESOURCES[kind].plural} SET status = $3${assignments.join("")}
     WHERE environment = $1 AND id = $2 AND status = $4`,
    [row.environment, row.id, to, from, ...Object.values(set)],
  );
}

export function findObject(queries: Queries, kind: ObjectKind, environment: number, id: string) {
  return queries.get<ObjectRow>(`${STATEMENTS[kind].find} AND id = $2`, [environment, id]);
}

/** Finds the object that holds a value of a unique field; `key` is the value in lower case. */
export function findByKey(queries: Queries, kind: ObjectKind, environment: number, name: string, key: string) {
  return queries.get<ObjectRow>(`${STATEMENTS[kind].find} AND ${keyColumnOf(name)} = $2`, [environment, key]);
}

/** Returns the first objects, by the value in lower case, whose value of a unique field begins with a text. */
export async function findByPrefix(
  queries: Queries,
  kind: ObjectKind,
  environment: number,
  { name, prefix, limit }: { name: string; prefix: string; limit: number },
): Promise<ObjectRow[]> {
  const column = keyColumnOf(name);
  const sql = `${STATEMENTS[kind].find} AND ${column} >= $2 ORDER BY ${column} LIMIT $3`;
  const rows = await queries.all<ObjectRow>(sql, [environment, prefix, limit]);
  // What begins with a text follows it, in every collation.
  return rows.filter(({ [column]: key }) => (key as string).startsWith(prefix));
}

export function listObjects(queries: Queries, kind: ObjectKind, page: PageRequest, filters: Filters) {
  return readPage<ObjectRow>(queries, RESOURCES[kind].plural, STATEMENTS[kind].columns.join(", "), page, filters);
}

/** Returns a page of the objects that have one of some IDs in a column with an index. */
export function listObjectsOf(
  queries: Queries,
  kind: ObjectKind,
  page: PageRequest,
  filters: Filters,
  { column = "id", ids }: { column?: string; ids: readonly string[] },
): Promise<ObjectRow[]> {
  const columns = STATEMENTS[kind].columns.join(", ");
  const each = [...new Set(ids)].map((id) => ({ [column]: id }));
  return readMergedPage<ObjectRow>(queries, RESOURCES[kind].plural, columns, page, filters, each);
}

export function columnsOf(kind: ObjectKind): readonly string[] {
  return STATEMENTS[kind].columns;
}

/** Returns how many objects an environment has, or a limit that it exceeds. */
export async function countObjects(queries: Queries, environment: number, limit: number): Promise<number> {
  const parts = OBJECT_KINDS.map((kind) => `SELECT 1 FROM ${RESOURCES[kind].plural} WHERE environment = $1`);
  const row = await queries.get<{ count: number }>(
    `SELECT COUNT(*) AS count FROM (SELECT * FROM (${parts.join(" UNION ALL ")}) AS found LIMIT $2) AS counted`,
    [environment, limit],
  );
  return row?.count ?? 0;
}

function statementsOf(kind: ObjectKind): Statements {
  const table = RESOURCES[kind].plural;
  const fields = Object.entries<Field>(RESOURCES[kind].fields);
  const own = fields.flatMap(([name, field]) => [columnOf(name, field), ...(field.unique ? [keyColumnOf(name)] : [])]);
  const columns = ["environment", "id", ...own, "created"];
  const values = columns.map((_column, index) => `$${index + 1}`).join(", ");
  const isUnique = fields.some(([, { unique }]) => unique);
  const set = columns.slice(2).map((column, index) => `${column} = $${index + 3}`);
  return {
    columns,
    insert: `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${values})${isUnique ? " ON CONFLICT DO NOTHING" : ""}`,
    update: `UPDATE ${table} SET ${set.join(", ")} WHERE environment = $1 AND id = $2`,
    find: `SELECT ${columns.join(", ")} FROM ${table} WHERE environment = $1`,
  };
}

function valuesOf(row: ObjectRow, columns: readonly string[]): SqlValue[] {
  return columns.map((column) => row[column] ?? null);
}
