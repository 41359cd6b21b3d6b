import type { Migration } from "./migration.ts";

/** Who created each API key, so that the keys of a person who leaves are found. */
export const keyCreators: Migration = {
  number: 11,
  name: "key creators",
  statements: ({ id }) => [
    // Null for the first keys, and in rows of a version before.
    `ALTER TABLE api_keys ADD COLUMN created_by ${id}`,
    `CREATE INDEX api_keys_by_creator ON api_keys (created_by) WHERE created_by IS NOT NULL`,
  ],
};
