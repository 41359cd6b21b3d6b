import { createHash } from "node:crypto";
import { insertRows } from "../storage/batches.ts";
import type { Database, Queries, SqlValue } from "../storage/database.ts";
import { alignLog } from "../storage/event-log.ts";
import { CopyError } from "../errors.ts";

/** Rows of one transaction: few enough that a kill loses little work. */
const ROWS = 500;

type Row = Record<string, SqlValue>;
type Progress = (table: string, rows: number) => void;

/**
 * Copies an SQLite file into an empty PostgreSQL database, table by table in the order of keys, then reads both sides
 * once more and compares counts and checksums. If it is killed, the next run continues after the last whole
 * transaction. Neither side may be served meanwhile. Returns each table with its number of rows and their checksum.
 * Throws CopyError.
 */
export async function copyDatabase(source: Queries, target: Database, progress: Progress) {
  const tables = await tablesOf(source);
  await begin(target, tables);
  for (const table of tables) await copyTable(source, target, table, progress);
  const copied: ({ name: string } & RowChecksum)[] = [];
  for (const table of tables) {
    const [here, there] = [await checksumOf(source, table), await checksumOf(target, table)];
    if (here.rows !== there.rows || here.checksum !== there.checksum) {
      throw new CopyError(
        `${table.name} differs: ${here.rows} rows and ${there.rows}. Was one of the databases in use? ` +
          "Empty the target and copy again.",
      );
    }
    copied.push({ name: table.name, ...here });
  }
  await alignLog(target);
  await target.write((tx) => tx.run("DROP TABLE copy_progress"));
  return copied;
}

/** Creates the record of the copy's progress, or finds that of an earlier run. */
async function begin(target: Database, tables: readonly TableShape[]): Promise<void> {
  await target.write(async (tx) => {
    if (await hasUnfinishedCopy(tx)) return;
    for (const { name } of tables) {
      if ((await tx.get(`SELECT 1 AS one FROM ${name} LIMIT 1`)) === undefined) continue;
      throw new CopyError(`The target is not empty: ${name} holds rows. Copy into an empty database.`);
    }
    await tx.run("CREATE TABLE copy_progress (name TEXT PRIMARY KEY, last_key TEXT NOT NULL)");
  });
}

const COPY_PROGRESS: Record<Queries["dialect"], string> = {
  sqlite: "SELECT 1 AS one FROM sqlite_schema WHERE name = 'copy_progress'",
  postgres: "SELECT 1 AS one FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'copy_progress'",
};

/** Returns true while some rows are in the database and others are not. */
export async function hasUnfinishedCopy(database: Queries): Promise<boolean> {
  return (await database.get(COPY_PROGRESS[database.dialect])) !== undefined;
}

async function copyTable(source: Queries, target: Database, table: TableShape, progress: Progress): Promise<void> {
  const sql = "SELECT last_key FROM copy_progress WHERE name = $1";
  const saved = await target.get<{ last_key: string }>(sql, [table.name]);
  const insert = insertRows<Row>(table.name, table.columns);
  let last = saved && (JSON.parse(saved.last_key) as ReturnType<typeof plain>[]).map(fromPlain);
  for (;;) {
    const rows = await pageOf(source, table, last);
    const end = rows.at(-1);
    if (end === undefined) return;
    last = table.key.map((column) => end[column] ?? null);
    const lastKey = JSON.stringify(last.map(plain));
    await target.write(async (tx) => {
      await insert(tx, rows);
      await tx.run(
        `INSERT INTO copy_progress (name, last_key) VALUES ($1, $2)
         ON CONFLICT (name) DO UPDATE SET last_key = excluded.last_key`,
        [table.name, lastKey],
      );
    });
    progress(table.name, rows.length);
  }
}

/** Reads the rows after a key, in key order. */
function pageOf(queries: Queries, { name, columns, key }: TableShape, last: readonly SqlValue[] | undefined) {
  const order = key.join(", ");
  const placeholders = key.map((_, index) => `$${index + 1}`).join(", ");
  const where = last === undefined ? "" : `WHERE (${order}) > (${placeholders})`;
  return queries.all<Row>(`SELECT ${columns.join(", ")} FROM ${name} ${where} ORDER BY ${order} LIMIT ${ROWS}`, last);
}

interface RowChecksum {
  rows: number;
  checksum: string;
}

/**
 * Returns a checksum of a table's rows in any order: the sum of their SHA-256s modulo 2^256, so that it does not depend
 * on how a database sorts.
 */
async function checksumOf(queries: Queries, table: TableShape): Promise<RowChecksum> {
  let sum = 0n;
  let count = 0;
  for (let last: SqlValue[] | undefined; ;) {
    const rows = await pageOf(queries, table, last);
    for (const row of rows) {
      const values = JSON.stringify(table.columns.map((column) => plain(row[column] ?? null)));
      sum = BigInt.asUintN(256, sum + BigInt(`0x${createHash("sha256").update(values).digest("hex")}`));
    }
    count += rows.length;
    const end = rows.at(-1);
    if (end === undefined || rows.length < ROWS) return { rows: count, checksum: sum.toString(16).padStart(64, "0") };
    last = table.key.map((column) => end[column] ?? null);
  }
}

/** A table to copy, as the SQLite file has it. */
interface TableShape {
  name: string;
  columns: readonly string[];
  /** The primary key's columns, in its order. */
  key: readonly string[];
}

/** Tables that each database maintains itself: counts are derived from the copied rows. */
const OWN = new Set(["schema_migrations", "sqlite_sequence", "event_counts", "attempt_counts", "pending_counts"]);

/** Returns the tables of an SQLite file in the order of their creation, so none refers to a later one. */
async function tablesOf(source: Queries): Promise<TableShape[]> {
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

/** Converts a value to JSON, with bytes distinct from text. */
function plain(value: SqlValue): string | number | null | { bytes: string } {
  return value instanceof Uint8Array ? { bytes: Buffer.from(value).toString("base64") } : value;
}

function fromPlain(value: ReturnType<typeof plain>): SqlValue {
  return typeof value === "object" && value !== null ? Buffer.from(value.bytes, "base64") : value;
}
