import type { Migration } from "./migration.ts";

/** Requests of the command are told from those of applications. */
export const requestClients: Migration = {
  number: 10,
  name: "request clients",
  statements: () => ["ALTER TABLE request_logs ADD COLUMN client TEXT"],
};
