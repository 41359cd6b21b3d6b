import { type IdKind, lowestIdAt } from "../../contract/ids.ts";
import { parseTimestamp } from "../../contract/timestamps.ts";
import { insertRow, updateRow } from "./batches.ts";
import type { Queries, SqlValue, Transaction } from "./database.ts";

/** The part of a list to read, newest first. */
export interface PageRequest {
  environment: number;
  /** Rows after this one in the list: the ID of the last row seen, unless the list has an order of its own. */
  position?: string | undefined;
  /** Rows with an id below this one. */
  before?: string | undefined;
  /** Rows with an id at or above this one. */
  from?: string | undefined;
  limit: number;
}

/** Equality filters by column; undefined ones are omitted. */
export type Filters = Record<string, SqlValue | undefined>;

/**
 * Reads one page by keyset, so that its cost does not grow with its depth, and one more row, which tells whether
 * another page follows.
 */
export function readPage<Row>(queries: Queries, table: string, columns: string, page: PageRequest, filters: Filters) {
  const { sql, parameters } = pageStatement(table, columns, page, filters);
  return queries.all<Row>(sql, parameters);
}

/** Reads the same page over alternative filters: merges the newest rows of each from its own range of an index. */
export function readMergedPage<Row>(
  queries: Queries,
  table: string,
  columns: string,
  page: PageRequest,
  filters: Filters,
  alternatives: readonly Filters[],
): Promise<Row[]> {
  const parameters: SqlValue[] = [];
  const parts = alternatives.map((alternative) => {
    const part = pageStatement(table, columns, page, { ...filters, ...alternative }, parameters.length);
    parameters.push(...part.parameters);
    return `SELECT * FROM (${part.sql}) AS page_of_one`;
  });
  parameters.push(page.limit + 1);
  const sql = `${parts.join(" UNION ALL ")} ORDER BY id DESC LIMIT $${parameters.length}`;
  return queries.all<Row>(sql, parameters);
}

/** Returns what is done with the rows of a table, each found by its environment and ID. `update` writes some columns. */
export function rowsOf<Row extends Key>(table: string, columns: string, updated: readonly (keyof Row & string)[]) {
  const one = "WHERE environment = $1 AND id = $2";
  return {
    find: (queries: Queries, environment: number, id: string) =>
      queries.get<Row>(`SELECT ${columns} FROM ${table} ${one}`, [environment, id]),
    list: (queries: Queries, page: PageRequest) => readPage<Row>(queries, table, columns, page, {}),
    insert: (tx: Transaction, row: Row) => insertRow(tx, table, row as Row & Record<string, SqlValue>),
    update: (tx: Transaction, row: Row) => updateRow(tx, table, row, ["environment", "id"], updated),
    remove: (tx: Transaction, environment: number, id: string) =>
      tx.run(`DELETE FROM ${table} ${one}`, [environment, id]),
  };
}

export type Rows<Row extends Key> = ReturnType<typeof rowsOf<Row>>;

interface Key {
  environment: number | null;
  id: string;
}

/** Returns the ID of an environment's newest row; undefined if there is none. */
export async function newestId(queries: Queries, table: "deliveries" | "events" | "request_logs", environment: number) {
  const sql = `SELECT MAX(id) AS id FROM ${table} WHERE environment = $1`;
  return (await queries.get<{ id: string | null }>(sql, [environment]))?.id ?? undefined;
}

function pageStatement(table: string, columns: string, page: PageRequest, filters: Filters, offset = 0) {
  const parameters: SqlValue[] = [];
  const placeholder = (value: SqlValue) => `$${offset + parameters.push(value)}`;
  const conditions = [`environment = ${placeholder(page.environment)}`];
  for (const [column, value] of Object.entries(filters)) {
    if (value !== undefined) conditions.push(`${column} = ${placeholder(value)}`);
  }
  // A position is below the bound of the first page.
  const before = page.position ?? page.before;
  if (before !== undefined) conditions.push(`id < ${placeholder(before)}`);
  if (page.from !== undefined) conditions.push(`id >= ${placeholder(page.from)}`);
  const where = conditions.join(" AND ");
  const sql = `SELECT ${columns} FROM ${table} WHERE ${where} ORDER BY id DESC LIMIT ${placeholder(page.limit + 1)}`;
  return { sql, parameters };
}

/** A span of the times at which objects were created, in Unix milliseconds. */
interface CreatedRange {
  from: number | undefined;
  before: number | undefined;
}

/** Returns the span of the filters, whose timestamps are in whole seconds. */
export function createdRangeOf(filters: {
  created_after?: string | undefined;
  created_before?: string | undefined;
}): CreatedRange {
  const { created_after: after, created_before: before } = filters;
  return {
    from: after === undefined ? undefined : parseTimestamp(after)! + 1000,
    before: before === undefined ? undefined : parseTimestamp(before)!,
  };
}

/** The span of IDs that a span of times has: an ID contains its time. */
export interface IdRange {
  from: string | undefined;
  before: string | undefined;
}

export function idRangeOf(kind: IdKind, { from, before }: CreatedRange): IdRange {
  const idAt = (time: number | undefined) => (time === undefined ? undefined : lowestIdAt(kind, time));
  return { from: idAt(from), before: idAt(before) };
}
