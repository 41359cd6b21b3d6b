import type { Migration } from "./migration.ts";

/** What became of each event at its receivers, each environment's own clock, and how far its history was cleared away. */
export const delivery: Migration = {
  number: 2,
  name: "delivery",
  statements: ({ id, integer, sequence, clustered }) => [
    // The environment's time is real time and the offset, in milliseconds; only a sandbox's is ever moved.
    `ALTER TABLE environments ADD COLUMN clock_offset ${integer} NOT NULL DEFAULT 0`,
    `ALTER TABLE environments ADD COLUMN clock_held_until ${integer} NOT NULL DEFAULT 0`,
    // The newest event id that retention removed.
    `ALTER TABLE environments ADD COLUMN events_removed_to ${id}`,

    // next_attempt is the environment's time, lease_until real time.
    `CREATE TABLE deliveries (
       id ${id} PRIMARY KEY, environment INTEGER NOT NULL REFERENCES environments (id), event_id ${id} NOT NULL,
       event_type TEXT NOT NULL, endpoint_id ${id}, listener_id ${id}, status TEXT NOT NULL,
       attempt_count INTEGER NOT NULL, first_attempt ${integer}, next_attempt ${integer}, lease_until ${integer},
       lease_token TEXT, created ${integer} NOT NULL) ${clustered}`,
    `CREATE INDEX deliveries_by_status ON deliveries (environment, status, id)`,
    `CREATE INDEX deliveries_by_endpoint ON deliveries (environment, endpoint_id, status, id)
       WHERE endpoint_id IS NOT NULL`,
    `CREATE INDEX deliveries_by_event ON deliveries (environment, event_id, id)`,
    // The queue: what is claimed leaves it, so that claiming never reads past rows that others hold.
    `CREATE INDEX deliveries_waiting ON deliveries (endpoint_id, next_attempt)
       WHERE status = 'pending' AND lease_until IS NULL`,
    `CREATE INDEX deliveries_leased ON deliveries (lease_until) WHERE lease_until IS NOT NULL`,
    `CREATE TABLE attempts (
       delivery_id ${id} NOT NULL, number INTEGER NOT NULL, at ${integer} NOT NULL, status_code INTEGER, error TEXT,
       duration_ms INTEGER NOT NULL, response_excerpt TEXT, PRIMARY KEY (delivery_id, number)) ${clustered}`,

    // A replay's place in the log lies behind the event with the number after_seq. Its id is what a listener resumes by.
    `CREATE TABLE replays (
       number ${sequence}, environment INTEGER NOT NULL REFERENCES environments (id), id ${id} NOT NULL,
       event_id ${id} NOT NULL, event_type TEXT NOT NULL, after_seq ${integer} NOT NULL)`,
    `CREATE UNIQUE INDEX replays_by_id ON replays (environment, id)`,
    `CREATE INDEX replays_by_number ON replays (environment, number)`,

    `CREATE INDEX idempotency_keys_by_age ON idempotency_keys (environment, created)`,
  ],
};
