import type { Migration } from "./migration.ts";

/** Tables that every change adds rows to. */
const BUSY = ["customers", "orders", "payments", "events", "idempotency_keys", "deliveries", "replays", "request_logs"];

/**
 * What several processes on one PostgreSQL need besides: a log whose numbers follow the order of commits, and limits
 * that all of them share. An SQLite file is one process's own.
 */
export const manyProcesses: Migration = {
  number: 5,
  name: "many_processes",
  statements({ dialect, integer }) {
    if (dialect === "sqlite") return [];
    return [
      // Checking these locks the environment's one row for each row added, and those locks hold each other up.
      ...BUSY.map((table) => `ALTER TABLE ${table} DROP CONSTRAINT ${table}_environment_fkey`),

      // A place in the log is the number of the transaction that wrote it, and within that a count of ten bits, which each
      // connection takes in whole turns, so that no transaction of fewer than 1,024 events meets a number twice. All
      // transactions below the oldest one that still runs have ended: what lies below the horizon never grows any more.
      // A database that was copied to another server counts its transactions anew there: base makes up for that.
      `CREATE TABLE log_base (only_row INTEGER PRIMARY KEY CHECK (only_row = 1), base ${integer} NOT NULL)`,
      `INSERT INTO log_base (only_row, base) VALUES (1, 0)`,
      `CREATE SEQUENCE log_count CACHE 1024`,
      `CREATE FUNCTION log_position() RETURNS BIGINT LANGUAGE sql VOLATILE AS $body$
         SELECT (pg_current_xact_id()::text::bigint + (SELECT base FROM log_base)) * 1024 + nextval('log_count') % 1024
       $body$`,
      `CREATE FUNCTION log_horizon() RETURNS BIGINT LANGUAGE sql STABLE AS $body$
         SELECT (pg_snapshot_xmin(pg_current_snapshot())::text::bigint + (SELECT base FROM log_base)) * 1024
       $body$`,
      `ALTER TABLE events ALTER COLUMN seq DROP IDENTITY`,
      `ALTER TABLE events ALTER COLUMN seq SET DEFAULT log_position()`,
      `ALTER TABLE replays ALTER COLUMN number DROP IDENTITY`,
      `ALTER TABLE replays ALTER COLUMN number SET DEFAULT log_position()`,

      // Token buckets: what is left, when that was so (database time), and how many were given the last time.
      `CREATE UNLOGGED TABLE rate_buckets (
         name TEXT PRIMARY KEY, tokens DOUBLE PRECISION NOT NULL, at DOUBLE PRECISION NOT NULL,
         granted DOUBLE PRECISION NOT NULL) WITH (fillfactor = 50)`,
    ];
  },
};
