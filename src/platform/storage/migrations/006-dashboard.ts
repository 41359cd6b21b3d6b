import type { Migration } from "./migration.ts";

/** Sessions that can be named and ended one by one, and attempts that can be counted by time. */
export const dashboard: Migration = {
  number: 6,
  name: "dashboard",
  statements: ({ id }) => [
    // A session of before has no id to be named by: whoever had one signs in again.
    `DELETE FROM sessions`,
    `ALTER TABLE sessions ADD COLUMN id ${id} NOT NULL DEFAULT ''`,
    `ALTER TABLE sessions ADD COLUMN user_agent TEXT`,
    `CREATE UNIQUE INDEX sessions_by_id ON sessions (id)`,
    `CREATE INDEX attempts_by_time ON attempts (at)`,
  ],
};
