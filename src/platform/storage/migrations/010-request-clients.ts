import type { Migration } from "./migration.ts";

/** The request log distinguishes requests of the command from those of applications. */
export const requestClients: Migration = {
  number: 10,
  name: "request clients",
  statements: () => ["ALTER TABLE request_logs ADD COLUMN client TEXT"],
};
