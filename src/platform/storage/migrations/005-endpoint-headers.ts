import type { Migration } from "./migration.ts";

/** Headers that endpoints get with every attempt. */
export const endpointHeaders: Migration = {
  number: 5,
  name: "endpoint headers",
  statements: ({ bytes }) => [
    // headers: a sealed JSON object. Its names are also readable without the master key.
    `ALTER TABLE webhook_endpoints ADD COLUMN header_names TEXT NOT NULL DEFAULT '[]'`,
    `ALTER TABLE webhook_endpoints ADD COLUMN headers ${bytes}`,
  ],
};
