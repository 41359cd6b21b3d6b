import type { Migration } from "./migration.ts";

/**
 * PostgreSQL only: counts the positions of each transaction from 0, so that they keep the order in which it wrote them.
 * A sequence wraps within a transaction. `log_count` remains for transactions that began before.
 */
export const logOrder: Migration = {
  number: 2,
  name: "log order",
  statements: ({ dialect }) =>
    dialect === "sqlite"
      ? []
      : [
          `CREATE OR REPLACE FUNCTION log_position() RETURNS BIGINT LANGUAGE sql VOLATILE AS $body$
             SELECT (pg_current_xact_id()::text::bigint + (SELECT base FROM log_base)) * 1024
               + set_config('service.log_count',
                   (COALESCE(NULLIF(current_setting('service.log_count', true), ''), '-1')::bigint + 1)::text, true)::bigint
           $body$`,
        ],
};
