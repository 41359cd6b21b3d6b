import type { Database } from "../database.ts";

/** The column types that the dialects spell differently. Everything else is written once. */
export interface ColumnTypes {
  readonly dialect: Database["dialect"];
  /** The type of a key that increases in insertion order and is never reused, `PRIMARY KEY` included. */
  readonly sequence: string;
  /** Bytes, read back as Uint8Array. */
  readonly bytes: string;
  /** Text that sorts and compares byte by byte, as ids do. */
  readonly id: string;
  /** Integers of 64 bits: times, amounts. */
  readonly integer: string;
  /**
   * Suffix of a table that is stored in its primary key: half the pages to write. Empty if the dialect has no such
   * option.
   */
  readonly clustered: string;
}

/** One step from a schema to the next. It never changes: a database records its digest. A later one corrects it. */
export interface Migration {
  /** 1 for the first, then consecutive. */
  readonly number: number;
  readonly name: string;
  /** All of them run in one transaction, together with the record that the migration ran. */
  statements(types: ColumnTypes): readonly string[];
}

/**
 * Returns the column of a row's environment. On PostgreSQL, tables that every change adds rows to have no foreign key:
 * checking it locks the environment's single row for each row added, and those locks delay each other.
 */
export function environmentOf({ dialect }: ColumnTypes): string {
  return `environment INTEGER NOT NULL${dialect === "sqlite" ? " REFERENCES environments (id)" : ""}`;
}
