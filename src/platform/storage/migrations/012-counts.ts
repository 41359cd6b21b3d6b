import type { Migration } from "./migration.ts";

const NOW = {
  sqlite: "CAST(strftime('%s', 'now') AS INTEGER) * 1000",
  postgres: "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)",
};

/** The index of the first upper bound that a latency does not exceed (LATENCY_BOUNDS); the last one takes the rest. */
const bucketOf = (latency: string) =>
  `CASE ${[5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000]
    .map((bound, index) => `WHEN ${latency} <= ${bound} THEN ${index}`)
    .join(" ")} ELSE 10 END`;

/** The columns of an attempt's group. A key cannot contain null: 0 is no status code, and empty text is none. */
const groupOf = (attempt: string) => `d.environment, ${attempt}.at / 60000, COALESCE(d.endpoint_id, ''),
  COALESCE(${attempt}.status_code, 0), COALESCE(substr(${attempt}.error, 1, 512), ''),
  ${bucketOf(`${attempt}.duration_ms`)}`;

const ATTEMPT_KEY = "environment, minute, endpoint_id, status_code, error, bucket";

/**
 * Counts of events and attempts by minute, and of pending deliveries by endpoint, so that neither the statistics nor the
 * metrics read every row.
 *
 * Triggers maintain them because a count of pending deliveries that is off once stays off. They count each writer in its
 * own transaction: a process of an earlier version that still runs while processes are replaced one after another, a copy
 * of a database, and an operator's SQL. Statements of the program would have to read each row's status before they change
 * it, and would miss the others.
 *
 * SQLite has one writer at a time, so its triggers add to the counts. On PostgreSQL, transactions that add to the same row
 * would wait for each other and conflict: there the triggers only insert changes, which one process at a time folds into
 * the counts. A count is the sum of both.
 */
export const counts: Migration = {
  number: 12,
  name: "counts",
  statements: ({ dialect, id, integer, clustered }) => [
    `CREATE TABLE event_counts (
       environment INTEGER NOT NULL, minute ${integer} NOT NULL, count ${integer} NOT NULL,
       PRIMARY KEY (environment, minute)) ${clustered}`,
    `CREATE TABLE attempt_counts (
       environment INTEGER NOT NULL, minute ${integer} NOT NULL, endpoint_id ${id} NOT NULL,
       status_code INTEGER NOT NULL, error TEXT NOT NULL, bucket INTEGER NOT NULL, count ${integer} NOT NULL,
       last_at ${integer} NOT NULL, PRIMARY KEY (${ATTEMPT_KEY})) ${clustered}`,
    `CREATE TABLE pending_counts (
       environment INTEGER NOT NULL, endpoint_id ${id} NOT NULL, count ${integer} NOT NULL,
       PRIMARY KEY (environment, endpoint_id)) ${clustered}`,
    // On PostgreSQL this waits for transactions that are writing: what they wrote is counted below.
    ...(dialect === "sqlite" ? sqliteTriggers() : postgresTriggers()),
    // No statistics are read of the time before.
    `INSERT INTO event_counts (environment, minute, count)
     SELECT environment, created / 60000, COUNT(*) FROM events WHERE created >= ${NOW[dialect]} - 86400000
     GROUP BY environment, created / 60000`,
    `INSERT INTO attempt_counts (${ATTEMPT_KEY}, count, last_at)
     SELECT ${groupOf("a")}, COUNT(*), MAX(a.at) FROM attempts a JOIN deliveries d ON d.id = a.delivery_id
     WHERE a.at >= ${NOW[dialect]} - 86400000 GROUP BY 1, 2, 3, 4, 5, 6`,
    `INSERT INTO pending_counts (environment, endpoint_id, count)
     SELECT environment, COALESCE(endpoint_id, ''), COUNT(*) FROM deliveries WHERE status = 'pending'
     GROUP BY environment, COALESCE(endpoint_id, '')`,
  ],
};

function sqliteTriggers(): string[] {
  const add = (row: "NEW" | "OLD", count: string) =>
    `INSERT INTO pending_counts (environment, endpoint_id, count)
     VALUES (${row}.environment, COALESCE(${row}.endpoint_id, ''), ${count})
     ON CONFLICT (environment, endpoint_id) DO UPDATE SET count = count + excluded.count;`;
  return [
    `CREATE TRIGGER events_counted AFTER INSERT ON events BEGIN
       INSERT INTO event_counts (environment, minute, count) VALUES (NEW.environment, NEW.created / 60000, 1)
       ON CONFLICT (environment, minute) DO UPDATE SET count = count + 1;
     END`,
    `CREATE TRIGGER attempts_counted AFTER INSERT ON attempts BEGIN
       INSERT INTO attempt_counts (${ATTEMPT_KEY}, count, last_at)
       SELECT ${groupOf("NEW")}, 1, NEW.at FROM deliveries d WHERE d.id = NEW.delivery_id
       ON CONFLICT (${ATTEMPT_KEY})
       DO UPDATE SET count = count + 1, last_at = MAX(last_at, excluded.last_at);
     END`,
    `CREATE TRIGGER deliveries_added AFTER INSERT ON deliveries WHEN NEW.status = 'pending' BEGIN
       ${add("NEW", "1")}
     END`,
    `CREATE TRIGGER deliveries_changed AFTER UPDATE OF status ON deliveries
     WHEN (OLD.status = 'pending') <> (NEW.status = 'pending') BEGIN
       ${add("NEW", "CASE WHEN NEW.status = 'pending' THEN 1 ELSE -1 END")}
     END`,
    `CREATE TRIGGER deliveries_deleted AFTER DELETE ON deliveries WHEN OLD.status = 'pending' BEGIN
       ${add("OLD", "-1")}
     END`,
  ];
}

function postgresTriggers(): string[] {
  const counting = (name: string, statement: string) =>
    `CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $body$
     BEGIN ${statement}; RETURN NULL; END $body$`;
  const pending = (row: "NEW" | "OLD", count: string) =>
    `INSERT INTO pending_count_changes (environment, endpoint_id, count)
     VALUES (${row}.environment, COALESCE(${row}.endpoint_id, ''), ${count})`;
  return [
    // Without an index: rows are added at every write, and read together.
    ...["event", "attempt", "pending"].map((of) => `CREATE TABLE ${of}_count_changes (LIKE ${of}_counts)`),
    counting(
      "count_event",
      `INSERT INTO event_count_changes (environment, minute, count) VALUES (NEW.environment, NEW.created / 60000, 1)`,
    ),
    counting(
      "count_attempt",
      `INSERT INTO attempt_count_changes (${ATTEMPT_KEY}, count, last_at)
       SELECT ${groupOf("NEW")}, 1, NEW.at FROM deliveries d WHERE d.id = NEW.delivery_id`,
    ),
    counting("count_delivery_added", pending("NEW", "1")),
    counting("count_delivery_changed", pending("NEW", "CASE WHEN NEW.status = 'pending' THEN 1 ELSE -1 END")),
    counting("count_delivery_deleted", pending("OLD", "-1")),
    `CREATE TRIGGER events_counted AFTER INSERT ON events FOR EACH ROW EXECUTE FUNCTION count_event()`,
    `CREATE TRIGGER attempts_counted AFTER INSERT ON attempts FOR EACH ROW EXECUTE FUNCTION count_attempt()`,
    `CREATE TRIGGER deliveries_added AFTER INSERT ON deliveries FOR EACH ROW WHEN (NEW.status = 'pending')
       EXECUTE FUNCTION count_delivery_added()`,
    `CREATE TRIGGER deliveries_changed AFTER UPDATE OF status ON deliveries FOR EACH ROW
       WHEN ((OLD.status = 'pending') <> (NEW.status = 'pending')) EXECUTE FUNCTION count_delivery_changed()`,
    `CREATE TRIGGER deliveries_deleted AFTER DELETE ON deliveries FOR EACH ROW WHEN (OLD.status = 'pending')
       EXECUTE FUNCTION count_delivery_deleted()`,
  ];
}
