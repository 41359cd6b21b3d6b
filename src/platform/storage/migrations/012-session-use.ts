import type { Migration } from "./migration.ts";

/** A user recognizes a foreign session by where it began, and by its last use. */
export const sessionUse: Migration = {
  number: 12,
  name: "session use",
  statements: ({ integer }) => [
    "ALTER TABLE sessions ADD COLUMN client_address TEXT",
    `ALTER TABLE sessions ADD COLUMN last_used ${integer}`,
  ],
};
