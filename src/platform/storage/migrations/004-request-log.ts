import type { Migration } from "./migration.ts";

/** What each account asked of the API. A row's time is its id's: real time, whatever a sandbox's clock says. */
export const requestLog: Migration = {
  number: 4,
  name: "request log",
  statements: ({ id, integer, clustered }) => [
    `CREATE TABLE request_logs (
       environment INTEGER NOT NULL REFERENCES environments (id), id ${id} NOT NULL, method TEXT NOT NULL,
       path TEXT NOT NULL, status INTEGER NOT NULL, duration_us ${integer} NOT NULL, key_id ${id}, user_id ${id},
       idempotency_key TEXT, error_code TEXT, PRIMARY KEY (environment, id)) ${clustered}`,
    `CREATE INDEX request_logs_by_status ON request_logs (environment, method, status, id)`,
    `CREATE INDEX request_logs_by_path ON request_logs (environment, path, method, status, id)`,
    `CREATE INDEX request_logs_by_key ON request_logs (environment, key_id, method, status, id)
       WHERE key_id IS NOT NULL`,
  ],
};
