import type { Transaction } from "../../../src/platform/storage/database.ts";
import type { Migration } from "../../../src/platform/storage/migrations/migration.ts";

export const notes: Migration = {
  number: 1,
  name: "notes",
  statements: ({ sequence, id, integer, bytes }) => [
    `CREATE TABLE notes (seq ${sequence}, id ${id} NOT NULL UNIQUE, body TEXT, size ${integer}, ratio DOUBLE PRECISION,
       data ${bytes})`,
    `CREATE TABLE counters (id ${id} PRIMARY KEY, value ${integer} NOT NULL)`,
  ],
};

export const tags: Migration = {
  number: 2,
  name: "tags",
  statements: ({ id }) => [`CREATE TABLE tags (id ${id} PRIMARY KEY)`, `INSERT INTO tags (id) SELECT id FROM notes`],
};

export function insert(transaction: Transaction, id: string, body: string | null = null): Promise<number> {
  return transaction.run("INSERT INTO notes (id, body) VALUES ($1, $2)", [id, body]);
}
