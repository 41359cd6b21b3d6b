import type { Migration } from "./migration.ts";

/** Advances of test clocks as operations that outlive the process that began them. */
export const clockAdvances: Migration = {
  number: 13,
  name: "clock advances",
  statements: ({ id, integer, clustered }) => [
    // Who moves the clock; null where nobody does.
    `ALTER TABLE environments ADD COLUMN clock_holder ${id}`,
    // `ends_at` and `ended_at` are the environment's time, `created` is real time.
    `CREATE TABLE clock_advances (
       environment INTEGER NOT NULL REFERENCES environments (id), number ${integer} NOT NULL,
       status TEXT NOT NULL CHECK (status IN ('running', 'succeeded', 'canceled')),
       target_offset ${integer} NOT NULL, ends_at ${integer} NOT NULL, created ${integer} NOT NULL,
       attempts INTEGER NOT NULL DEFAULT 0, succeeded INTEGER NOT NULL DEFAULT 0, failed INTEGER NOT NULL DEFAULT 0,
       ended_at ${integer}, ended_offset ${integer}, PRIMARY KEY (environment, number)) ${clustered}`,
    `CREATE UNIQUE INDEX clock_advances_running ON clock_advances (environment) WHERE status = 'running'`,
  ],
};
