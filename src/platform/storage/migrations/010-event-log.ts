import type { Migration } from "./migration.ts";

/** Lists of events in the log's order, and how far retention has removed it. */
export const eventLog: Migration = {
  number: 10,
  name: "event log",
  statements: ({ integer }) => [
    `ALTER TABLE environments ADD COLUMN log_removed_seq ${integer} NOT NULL DEFAULT 0`,
    `ALTER TABLE environments ADD COLUMN log_removed_replay ${integer} NOT NULL DEFAULT 0`,
    `DROP INDEX events_by_type`,
    `CREATE INDEX events_by_type ON events (environment, type, seq)`,
    `DROP INDEX events_by_object`,
    `CREATE INDEX events_by_object ON events (environment, object_id, seq)`,
    `CREATE INDEX replays_by_event ON replays (environment, event_id)`,
  ],
};
