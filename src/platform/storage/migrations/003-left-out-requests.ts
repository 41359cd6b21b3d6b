import type { Migration } from "./migration.ts";

/** How many rejected requests the request log left out after a row. */
export const leftOutRequests: Migration = {
  number: 3,
  name: "left out requests",
  statements: () => ["ALTER TABLE request_logs ADD COLUMN left_out INTEGER NOT NULL DEFAULT 0"],
};
