import type { Migration } from "./migration.ts";

/** Faults that requests to a sandbox get. An environment has their number, which authentication reads. */
export const faults: Migration = {
  number: 6,
  name: "faults",
  statements: ({ id, integer }) => [
    `CREATE TABLE faults (
       environment INTEGER NOT NULL, id ${id} NOT NULL, method TEXT, path TEXT NOT NULL, effect TEXT NOT NULL,
       status INTEGER, delay_ms INTEGER, rate DOUBLE PRECISION NOT NULL, times INTEGER, injected INTEGER NOT NULL,
       created ${integer} NOT NULL, PRIMARY KEY (environment, id))`,
    "ALTER TABLE environments ADD COLUMN faults INTEGER NOT NULL DEFAULT 0",
    // fault: the ID and the effect of the one that the request got.
    "ALTER TABLE request_logs ADD COLUMN fault TEXT",
  ],
};
