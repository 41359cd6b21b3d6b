import { type ColumnTypes, environmentOf, type Migration } from "./migration.ts";

/** The index of the first upper bound that a latency does not exceed (LATENCY_BOUNDS). The last one takes the rest. */
const bucketOf = (latency: string) =>
  `CASE ${[5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000]
    .map((bound, index) => `WHEN ${latency} <= ${bound} THEN ${index}`)
    .join(" ")} ELSE 10 END`;

/**
 * The columns of an attempt's group. A key cannot contain null, so 0 stands for no status code and empty text for none.
 */
const groupOf = (attempt: string) => `d.environment, ${attempt}.at / 60000, COALESCE(d.endpoint_id, ''),
  COALESCE(${attempt}.status_code, 0), COALESCE(substr(${attempt}.error, 1, 512), ''),
  ${bucketOf(`${attempt}.duration_ms`)}`;

const ATTEMPT_KEY = "environment, minute, endpoint_id, status_code, error, bucket";

/** The whole schema of the first release. */
export const initial: Migration = {
  number: 1,
  name: "initial",
  statements: (types) => [
    ...accounts(types),
    ...logPositions(types),
    ...businessObjects(types),
    ...events(types),
    ...deliveries(types),
    ...users(types),
    ...oauth(types),
    ...requests(types),
    ...counts(types),
  ],
};

function accounts({ id, integer, bytes }: ColumnTypes): string[] {
  return [
    `CREATE TABLE settings (name TEXT PRIMARY KEY, value ${bytes} NOT NULL)`,
    `CREATE TABLE accounts (
       id ${id} PRIMARY KEY, name TEXT NOT NULL, version TEXT NOT NULL, created ${integer} NOT NULL)`,
    // clock_offset: the environment's time is real time plus this, in milliseconds. Only a sandbox's is ever moved.
    // clock_holder: the process that moves the clock, until clock_held_until in real time.
    // ids_ahead_*: the span of time in which IDs may be later than `created`, because a reset set the clock back.
    // events_removed_to: the newest event ID that retention removed; log_removed_*: how far it removed the log.
    `CREATE TABLE environments (
       id INTEGER PRIMARY KEY, account_id ${id} NOT NULL REFERENCES accounts (id), name TEXT NOT NULL,
       clock_offset ${integer} NOT NULL DEFAULT 0, clock_held_until ${integer} NOT NULL DEFAULT 0, clock_holder ${id},
       ids_ahead_from ${integer}, ids_ahead_until ${integer}, events_removed_to ${id}, log_removed_seq ${integer} NOT NULL DEFAULT 0,
       log_removed_replay ${integer} NOT NULL DEFAULT 0, UNIQUE (account_id, name))`,
    // created_by is null for the first keys of an account.
    `CREATE TABLE api_keys (
       id ${id} PRIMARY KEY, environment INTEGER NOT NULL REFERENCES environments (id), name TEXT,
       digest ${bytes} NOT NULL UNIQUE, kind TEXT NOT NULL, prefix TEXT NOT NULL, last4 TEXT NOT NULL,
       scopes TEXT NOT NULL, ip_allowlist TEXT NOT NULL, expires_at ${integer}, last_used ${integer},
       revoked_at ${integer}, revoked_reason TEXT, created ${integer} NOT NULL, created_by ${id})`,
    `CREATE INDEX api_keys_by_environment ON api_keys (environment, id)`,
    `CREATE INDEX api_keys_by_creator ON api_keys (created_by) WHERE created_by IS NOT NULL`,
  ];
}

/**
 * PostgreSQL only: positions in the log that follow the order of commits, whichever process writes. A position is the
 * number of the transaction that wrote it, followed by a ten-bit count. Each connection reserves counts by the 1,024,
 * so that no transaction of fewer events uses a number twice. All transactions below the oldest running one have ended,
 * so nothing is added below the horizon. A database that was copied to another server counts its transactions from the
 * start there, which `base` compensates for.
 */
function logPositions({ dialect, integer }: ColumnTypes): string[] {
  if (dialect === "sqlite") return [];
  return [
    `CREATE TABLE log_base (only_row INTEGER PRIMARY KEY CHECK (only_row = 1), base ${integer} NOT NULL)`,
    `INSERT INTO log_base (only_row, base) VALUES (1, 0)`,
    `CREATE SEQUENCE log_count CACHE 1024`,
    `CREATE FUNCTION log_position() RETURNS BIGINT LANGUAGE sql VOLATILE AS $body$
       SELECT (pg_current_xact_id()::text::bigint + (SELECT base FROM log_base)) * 1024 + nextval('log_count') % 1024
     $body$`,
    `CREATE FUNCTION log_horizon() RETURNS BIGINT LANGUAGE sql STABLE AS $body$
       SELECT (pg_snapshot_xmin(pg_current_snapshot())::text::bigint + (SELECT base FROM log_base)) * 1024
     $body$`,
  ];
}

function businessObjects(types: ColumnTypes): string[] {
  const { id, integer, clustered } = types;
  const environment = environmentOf(types);
  return [
    `CREATE TABLE customers (
       ${environment}, id ${id} NOT NULL, email TEXT NOT NULL, email_key TEXT NOT NULL, name TEXT, phone TEXT,
       metadata TEXT NOT NULL, created ${integer} NOT NULL,
       PRIMARY KEY (environment, id), UNIQUE (environment, email_key)) ${clustered}`,
    `CREATE TABLE orders (
       ${environment}, id ${id} NOT NULL, amount ${integer} NOT NULL, currency TEXT NOT NULL, status TEXT NOT NULL,
       customer ${id}, metadata TEXT NOT NULL, created ${integer} NOT NULL,
       PRIMARY KEY (environment, id)) ${clustered}`,
    `CREATE INDEX orders_by_status ON orders (environment, status, id)`,
    `CREATE INDEX orders_by_customer ON orders (environment, customer, id) WHERE customer IS NOT NULL`,
    `CREATE TABLE payments (
       ${environment}, id ${id} NOT NULL, amount ${integer} NOT NULL, currency TEXT NOT NULL, status TEXT NOT NULL,
       order_id ${id}, failure_code TEXT, metadata TEXT NOT NULL, created ${integer} NOT NULL,
       PRIMARY KEY (environment, id)) ${clustered}`,
    `CREATE INDEX payments_by_status ON payments (environment, status, id)`,
    `CREATE INDEX payments_by_order ON payments (environment, order_id, id) WHERE order_id IS NOT NULL`,
  ];
}

/** The event log. `body_checksum` shows damage on the disk when the body is read. */
function events(types: ColumnTypes): string[] {
  const { dialect, id, integer, sequence } = types;
  const environment = environmentOf(types);
  const position = dialect === "sqlite" ? sequence : "BIGINT PRIMARY KEY DEFAULT log_position()";
  return [
    `CREATE TABLE events (
       seq ${position}, ${environment}, id ${id} NOT NULL, type TEXT NOT NULL, object_id ${id},
       created ${integer} NOT NULL, body TEXT NOT NULL, body_checksum ${integer}, trace TEXT)`,
    `CREATE UNIQUE INDEX events_by_id ON events (environment, id)`,
    `CREATE INDEX events_by_seq ON events (environment, seq)`,
    `CREATE INDEX events_by_type ON events (environment, type, seq)`,
    `CREATE INDEX events_by_object ON events (environment, object_id, seq)`,
    // A replay's position in the log is after the event with the number after_seq. A listener resumes by its ID.
    `CREATE TABLE replays (
       number ${position}, ${environment}, id ${id} NOT NULL, event_id ${id} NOT NULL, event_type TEXT NOT NULL,
       after_seq ${integer} NOT NULL)`,
    `CREATE UNIQUE INDEX replays_by_id ON replays (environment, id)`,
    `CREATE INDEX replays_by_number ON replays (environment, number)`,
    `CREATE INDEX replays_by_event ON replays (environment, event_id)`,
  ];
}

function deliveries(types: ColumnTypes): string[] {
  const { dialect, id, integer, bytes, clustered } = types;
  return [
    // failures: attempts that failed since the last successful one, with the times of the first and the last of them.
    // failing_reported: 1 between the events webhook_endpoint.failing and webhook_endpoint.recovered.
    `CREATE TABLE webhook_endpoints (
       environment INTEGER NOT NULL REFERENCES environments (id), id ${id} NOT NULL, url TEXT NOT NULL,
       events TEXT NOT NULL, description TEXT, status TEXT NOT NULL, disabled_reason TEXT,
       disabled_at ${integer}, secret ${bytes} NOT NULL,
       secret_created ${integer} NOT NULL, previous_secret ${bytes}, previous_until ${integer},
       created ${integer} NOT NULL, failures INTEGER NOT NULL DEFAULT 0, first_failure ${integer},
       last_failure ${integer}, failing_reported INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (environment, id))`,
    `CREATE TABLE listeners (
       id ${id} PRIMARY KEY, environment INTEGER NOT NULL REFERENCES environments (id), owner ${id} NOT NULL,
       device TEXT NOT NULL, secret ${bytes} NOT NULL, created ${integer} NOT NULL, seen_at ${integer},
       UNIQUE (environment, owner, device))`,
    // next_attempt and begun_at are the environment's time, lease_until is real time.
    `CREATE TABLE deliveries (
       id ${id} PRIMARY KEY, ${environmentOf(types)}, event_id ${id} NOT NULL, event_type TEXT NOT NULL,
       endpoint_id ${id}, listener_id ${id}, status TEXT NOT NULL, attempt_count INTEGER NOT NULL,
       first_attempt ${integer}, next_attempt ${integer}, lease_until ${integer}, lease_token TEXT,
       begun_at ${integer}, created ${integer} NOT NULL) ${clustered}`,
    `CREATE INDEX deliveries_by_status ON deliveries (environment, status, id)`,
    `CREATE INDEX deliveries_by_endpoint ON deliveries (environment, endpoint_id, status, id)
       WHERE endpoint_id IS NOT NULL`,
    `CREATE INDEX deliveries_by_event ON deliveries (environment, event_id, id)`,
    // The queue: claimed deliveries leave it, so that claiming never reads past rows that others hold.
    `CREATE INDEX deliveries_waiting ON deliveries (endpoint_id, next_attempt)
       WHERE status = 'pending' AND lease_until IS NULL`,
    `CREATE INDEX deliveries_leased ON deliveries (lease_until) WHERE lease_until IS NOT NULL`,
    `CREATE TABLE attempts (
       delivery_id ${id} NOT NULL, number INTEGER NOT NULL, at ${integer} NOT NULL, status_code INTEGER, error TEXT,
       duration_ms INTEGER NOT NULL, request_headers TEXT, response_headers TEXT, response_excerpt TEXT,
       PRIMARY KEY (delivery_id, number)) ${clustered}`,
    `CREATE TABLE bulk_operations (
       environment INTEGER NOT NULL REFERENCES environments (id), id ${id} NOT NULL, type TEXT NOT NULL,
       status TEXT NOT NULL, filters TEXT NOT NULL, request_id ${id}, total ${integer} NOT NULL,
       done ${integer} NOT NULL, failed ${integer} NOT NULL, last_error TEXT, position ${id} NOT NULL,
       until_id ${id} NOT NULL, created ${integer} NOT NULL, ended_at ${integer},
       PRIMARY KEY (environment, id)) ${clustered}`,
    `CREATE INDEX bulk_operations_running ON bulk_operations (id) WHERE status = 'running'`,
    // `ends_at` and `ended_at` are the environment's time, `created` is real time.
    `CREATE TABLE clock_advances (
       environment INTEGER NOT NULL REFERENCES environments (id), number ${integer} NOT NULL,
       status TEXT NOT NULL CHECK (status IN ('running', 'succeeded', 'canceled')),
       target_offset ${integer} NOT NULL, ends_at ${integer} NOT NULL, created ${integer} NOT NULL,
       attempts INTEGER NOT NULL DEFAULT 0, succeeded INTEGER NOT NULL DEFAULT 0, failed INTEGER NOT NULL DEFAULT 0,
       ended_at ${integer}, ended_offset ${integer}, PRIMARY KEY (environment, number)) ${clustered}`,
    `CREATE UNIQUE INDEX clock_advances_running ON clock_advances (environment) WHERE status = 'running'`,
    // If several processes share the database: how many sessions each of them has.
    ...(dialect === "sqlite"
      ? []
      : [
          `CREATE UNLOGGED TABLE listener_counts (
             environment INTEGER NOT NULL, process TEXT NOT NULL, sessions INTEGER NOT NULL, reported_at ${integer} NOT NULL,
             PRIMARY KEY (environment, process))`,
        ]),
  ];
}

/** Only a digest of every token, code, link and secret is stored. */
function users({ id, integer, bytes }: ColumnTypes): string[] {
  return [
    `CREATE TABLE users (
       id ${id} PRIMARY KEY, account_id ${id} NOT NULL REFERENCES accounts (id), email TEXT NOT NULL,
       email_key TEXT NOT NULL UNIQUE, role TEXT NOT NULL, password TEXT, created ${integer} NOT NULL)`,
    `CREATE INDEX users_by_account ON users (account_id, id)`,
    `CREATE TABLE sessions (
       digest ${bytes} PRIMARY KEY, user_id ${id} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
       by_link INTEGER NOT NULL, created ${integer} NOT NULL, expires_at ${integer} NOT NULL, id ${id} NOT NULL,
       user_agent TEXT)`,
    `CREATE UNIQUE INDEX sessions_by_id ON sessions (id)`,
    `CREATE INDEX sessions_by_user ON sessions (user_id)`,
    `CREATE INDEX sessions_by_expiry ON sessions (expires_at)`,
    `CREATE TABLE sign_in_links (
       digest ${bytes} PRIMARY KEY, user_id ${id} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
       invitation INTEGER NOT NULL, used_at ${integer}, created ${integer} NOT NULL, expires_at ${integer} NOT NULL)`,
    `CREATE INDEX sign_in_links_by_user ON sign_in_links (user_id)`,
    `CREATE INDEX sign_in_links_by_expiry ON sign_in_links (expires_at)`,
  ];
}

function oauth({ id, integer, bytes }: ColumnTypes): string[] {
  return [
    // The CLI's own app belongs to no environment.
    `CREATE TABLE oauth_apps (
       id ${id} PRIMARY KEY, environment INTEGER REFERENCES environments (id), name TEXT NOT NULL,
       public INTEGER NOT NULL, redirect_uris TEXT NOT NULL, secret ${bytes} UNIQUE, created ${integer} NOT NULL)`,
    `CREATE INDEX oauth_apps_by_environment ON oauth_apps (environment, id)`,
    // A user's approval of an app. Every token descends from one, and is revoked with it.
    `CREATE TABLE oauth_grants (
       id ${id} PRIMARY KEY, app_id ${id} NOT NULL REFERENCES oauth_apps (id) ON DELETE CASCADE,
       user_id ${id} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
       environment INTEGER NOT NULL REFERENCES environments (id), scopes TEXT NOT NULL, revoked_at ${integer},
       revoked_reason TEXT, created ${integer} NOT NULL)`,
    `CREATE INDEX oauth_grants_by_user ON oauth_grants (user_id, id)`,
    `CREATE INDEX oauth_grants_by_app ON oauth_grants (app_id)`,
    `CREATE TABLE oauth_codes (
       digest ${bytes} PRIMARY KEY, app_id ${id} NOT NULL REFERENCES oauth_apps (id) ON DELETE CASCADE,
       user_id ${id} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
       environment INTEGER NOT NULL REFERENCES environments (id), scopes TEXT NOT NULL, redirect_uri TEXT,
       challenge TEXT NOT NULL, used_at ${integer}, grant_id ${id}, created ${integer} NOT NULL,
       expires_at ${integer} NOT NULL)`,
    `CREATE INDEX oauth_codes_by_app ON oauth_codes (app_id)`,
    `CREATE INDEX oauth_codes_by_user ON oauth_codes (user_id)`,
    `CREATE INDEX oauth_codes_by_expiry ON oauth_codes (expires_at)`,
    `CREATE TABLE access_tokens (
       id ${id} PRIMARY KEY, digest ${bytes} NOT NULL UNIQUE,
       grant_id ${id} NOT NULL REFERENCES oauth_grants (id) ON DELETE CASCADE, scopes TEXT NOT NULL,
       prefix TEXT NOT NULL, last4 TEXT NOT NULL, revoked_at ${integer}, created ${integer} NOT NULL,
       expires_at ${integer} NOT NULL)`,
    `CREATE INDEX access_tokens_by_grant ON access_tokens (grant_id, expires_at)`,
    // parent: the refresh token that this one followed. A used token is retained, so that its reuse is detected.
    `CREATE TABLE refresh_tokens (
       digest ${bytes} PRIMARY KEY, grant_id ${id} NOT NULL REFERENCES oauth_grants (id) ON DELETE CASCADE,
       parent ${bytes}, used_at ${integer}, replaced_at ${integer}, created ${integer} NOT NULL,
       expires_at ${integer} NOT NULL)`,
    `CREATE INDEX refresh_tokens_by_grant ON refresh_tokens (grant_id, expires_at)`,
    `CREATE INDEX refresh_tokens_by_parent ON refresh_tokens (parent)`,
    `CREATE TABLE device_codes (
       digest ${bytes} PRIMARY KEY, user_code ${bytes} NOT NULL UNIQUE,
       app_id ${id} NOT NULL REFERENCES oauth_apps (id) ON DELETE CASCADE, environment TEXT NOT NULL,
       scopes TEXT NOT NULL, status TEXT NOT NULL, user_id ${id} REFERENCES users (id) ON DELETE CASCADE,
       interval_ms ${integer} NOT NULL, polled_at ${integer}, created ${integer} NOT NULL,
       expires_at ${integer} NOT NULL)`,
    `CREATE INDEX device_codes_by_app ON device_codes (app_id)`,
    `CREATE INDEX device_codes_by_user ON device_codes (user_id)`,
    `CREATE INDEX device_codes_by_expiry ON device_codes (expires_at)`,
  ];
}

function requests(types: ColumnTypes): string[] {
  const { dialect, id, integer, bytes, clustered } = types;
  const environment = environmentOf(types);
  return [
    `CREATE TABLE idempotency_keys (
       ${environment}, method TEXT NOT NULL, path TEXT NOT NULL, key TEXT NOT NULL, fingerprint ${bytes} NOT NULL,
       status INTEGER NOT NULL, response ${bytes} NOT NULL, created ${integer} NOT NULL,
       PRIMARY KEY (environment, path, key, method)) ${clustered}`,
    `CREATE INDEX idempotency_keys_by_age ON idempotency_keys (environment, created)`,
    // A row's time is that of its ID: real time, whatever the sandbox's clock.
    `CREATE TABLE request_logs (
       ${environment}, id ${id} NOT NULL, method TEXT NOT NULL, path TEXT NOT NULL, status INTEGER NOT NULL,
       duration_us ${integer} NOT NULL, key_id ${id}, user_id ${id}, idempotency_key TEXT, error_code TEXT,
       PRIMARY KEY (environment, id)) ${clustered}`,
    // Headers and bodies, as JSON: apart from the list, whose pages stay small.
    `CREATE TABLE request_details (
       ${environment}, id ${id} NOT NULL, detail TEXT NOT NULL, PRIMARY KEY (environment, id)) ${clustered}`,
    `CREATE INDEX request_logs_by_status ON request_logs (environment, method, status, id)`,
    `CREATE INDEX request_logs_by_path ON request_logs (environment, path, method, status, id)`,
    `CREATE INDEX request_logs_by_key ON request_logs (environment, key_id, method, status, id)
       WHERE key_id IS NOT NULL`,
    // Token buckets that several processes share: what is left, when that was true (database time), and how many were
    // granted the last time.
    ...(dialect === "sqlite"
      ? []
      : [
          `CREATE UNLOGGED TABLE rate_buckets (
             name TEXT PRIMARY KEY, tokens DOUBLE PRECISION NOT NULL, at DOUBLE PRECISION NOT NULL,
             granted DOUBLE PRECISION NOT NULL) WITH (fillfactor = 50)`,
        ]),
  ];
}

/**
 * Counts of events and attempts by minute, and of pending deliveries by endpoint, so that neither the statistics nor
 * the metrics read every row.
 *
 * Triggers maintain them because a wrong count of pending deliveries would stay wrong. They count all writers in the
 * writer's own transaction, including a copy of a database and an operator's SQL. Statements of the program would have
 * to read each row's status before they change it, and would miss other writers.
 *
 * SQLite has one writer at a time, so its triggers add to the counts. On PostgreSQL, transactions that add to the same
 * row would wait for each other and conflict. There the triggers only insert changes, which one process at a time folds
 * into the counts. A count is the sum of both.
 */
function counts({ dialect, id, integer, clustered }: ColumnTypes): string[] {
  return [
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
    ...(dialect === "sqlite" ? sqliteTriggers() : postgresTriggers()),
  ];
}

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
