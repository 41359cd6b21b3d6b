import type { Migration } from "./migration.ts";

const NOW = {
  sqlite: "CAST(strftime('%s', 'now') AS INTEGER) * 1000",
  postgres: "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)",
};

/** Which listeners are still used, so that others can be removed, and how many listen in all processes together. */
export const listeners: Migration = {
  number: 7,
  name: "listeners",
  statements: ({ dialect, integer }) => [
    // Null in rows of a process of before, while processes are being replaced one after another.
    `ALTER TABLE listeners ADD COLUMN seen_at ${integer}`,
    `UPDATE listeners SET seen_at = ${NOW[dialect]}`,
    ...(dialect === "sqlite"
      ? []
      : [
          `CREATE UNLOGGED TABLE listener_counts (
             environment INTEGER NOT NULL, process TEXT NOT NULL, sessions INTEGER NOT NULL, told_at ${integer} NOT NULL,
             PRIMARY KEY (environment, process))`,
        ]),
  ],
};
