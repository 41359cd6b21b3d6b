import type { DeliveryStatus } from "../../contract/schemas/delivery.ts";
import { ATTEMPT_COLUMNS, type AttemptRow, type DeliveryRow } from "./deliveries.ts";
import { forRows, inBatches } from "./batches.ts";
import { locking, type Queries, type Transaction } from "./database.ts";
import { type EnvironmentRow, IS_CURRENT } from "./environments.ts";

/** The first waiting delivery of an endpoint. */
export interface QueueHead extends Pick<EnvironmentRow, "clock_offset" | "clock_held_until"> {
  endpoint_id: string;
  environment: number;
  /** When it is due, in the environment's time. */
  due: number;
  /** The endpoint's status; null if the endpoint was deleted. */
  endpoint_status: "enabled" | "disabled" | null;
}

/** A claimed delivery, without the event's body, which may be large. */
export interface QueuedDelivery extends Pick<
  DeliveryRow,
  "id" | "environment" | "event_id" | "event_type" | "attempt_count"
> {
  first_attempt: number | null;
  next_attempt: number;
  /** Size of the event's body; null if the event was deleted. */
  body_bytes: number | null;
  /** The trace of the request that caused the event. */
  trace: string | null;
}

/** A lease whose holder is dead or stuck. */
export interface AbandonedLease extends QueuedDelivery {
  endpoint_id: string;
  lease_token: string;
  /** When its attempt began, in the environment's time; null if it did not begin. */
  begun_at: number | null;
  /** The error of the previous attempt. */
  last_error: string | null;
  clock_offset: number;
}

/** The right to attempt deliveries and to record the result. */
export interface Lease {
  token: string;
  /** When it ends, in Unix milliseconds of real time. */
  until: number;
}

/**
 * Returns the time that leases are measured by, in Unix milliseconds. On PostgreSQL it is the server's own: a process
 * on a machine that was suspended has an outdated time until it asks. An SQLite file has one process, whose clock is as
 * good.
 */
export async function leaseTime(queries: Queries, now: () => number): Promise<number> {
  if (queries.dialect === "sqlite") return now();
  const row = await queries.get<{ now: number }>(`SELECT ${SERVER_TIME} AS now`);
  return row!.now;
}

const SERVER_TIME = "CAST(extract(epoch FROM statement_timestamp()) * 1000 AS BIGINT)";

/** Which of an endpoint's deliveries to take, longest waiting first. */
export interface QueueRequest {
  environment: number;
  endpointId: string;
  /** The environment's time. */
  dueAt: number;
  limit: number;
}

/** The result of an attempt. It is recorded only if the delivery still carries the lease's token. */
export interface AttemptOutcome extends Omit<AttemptRow, "delivery_id" | "number"> {
  id: string;
  token: string;
  /** `next_attempt` when the delivery was claimed. Another value now means that a retry was requested meanwhile. */
  claimed_due: number;
  status: DeliveryStatus;
  next_attempt: number | null;
}

const WAITING = "status = 'pending' AND lease_until IS NULL";
// octet_length does not read the body.
const QUEUED = `d.id, d.environment, d.event_id, d.event_type, d.attempt_count, d.first_attempt, d.next_attempt,
  octet_length(e.body) AS body_bytes, e.trace`;

/** Endpoints with waiting deliveries, each found by one step through the index. */
const QUEUES = `WITH RECURSIVE queues (environment, endpoint_id) AS (
       SELECT id, (SELECT MIN(endpoint_id) FROM deliveries WHERE environment = environments.id AND ${WAITING})
       FROM environments WHERE ${IS_CURRENT}
       UNION ALL
       SELECT queues.environment, (
         SELECT MIN(d.endpoint_id) FROM deliveries d
         WHERE d.environment = queues.environment AND d.status = 'pending' AND d.lease_until IS NULL
           AND d.endpoint_id > queues.endpoint_id)
       FROM queues WHERE queues.endpoint_id IS NOT NULL)`;

/** Joins the waiting delivery of an endpoint that is due first, or last, as `d`: one index lookup. */
const joinWaiting = (
  environment: string,
  endpoint: string,
  direction: "ASC" | "DESC" = "ASC",
) => `JOIN deliveries d ON d.id = (
       SELECT h.id FROM deliveries h
       WHERE h.environment = ${environment} AND h.endpoint_id = ${endpoint} AND h.status = 'pending' AND h.lease_until IS NULL
       ORDER BY h.next_attempt ${direction} LIMIT 1)`;

/** Returns one row for each endpoint with waiting deliveries. */
export function queueHeads(queries: Queries): Promise<QueueHead[]> {
  return queries.all(
    `${QUEUES}
     SELECT d.endpoint_id, d.environment, d.next_attempt AS due, w.status AS endpoint_status, v.clock_offset,
            v.clock_held_until
     FROM queues
     ${joinWaiting("queues.environment", "queues.endpoint_id")}
     JOIN environments v ON v.id = d.environment
     LEFT JOIN webhook_endpoints w ON w.environment = d.environment AND w.id = d.endpoint_id`,
  );
}

/** Returns when the first delivery to an environment's enabled endpoints, or one, is due: one row per endpoint. */
export async function oldestDueTime(queries: Queries, environment: number, endpointId?: string) {
  const row = await queries.get<{ due: number | null }>(
    `SELECT MIN(d.next_attempt) AS due
     FROM webhook_endpoints w
     ${joinWaiting("w.environment", "w.id")}
     WHERE w.environment = $1 AND w.status = 'enabled'${endpointId === undefined ? "" : " AND w.id = $2"}`,
    endpointId === undefined ? [environment] : [environment, endpointId],
  );
  return row!.due;
}

/** Returns endpoints with a waiting delivery that is due after a real time, by its environment's clock. */
export function endpointsDueAfter(queries: Queries, time: number) {
  return queries.all<{ environment: number; endpoint_id: string; clock_offset: number }>(
    `${QUEUES}
     SELECT d.environment, d.endpoint_id, v.clock_offset
     FROM queues
     ${joinWaiting("queues.environment", "queues.endpoint_id", "DESC")}
     JOIN environments v ON v.id = d.environment
     WHERE d.next_attempt - v.clock_offset > $1`,
    [time],
  );
}

/** Reschedules an endpoint's waiting deliveries that are due after a time of its environment. Returns how many. */
export function rescheduleDeliveries(
  tx: Transaction,
  { environment, endpointId, after, dueAt, limit }: QueueRequest & { after: number },
): Promise<number> {
  return tx.run(
    `UPDATE deliveries SET next_attempt = $3
     WHERE id IN (
       SELECT d.id FROM deliveries d
       WHERE d.environment = $5 AND d.endpoint_id = $1 AND d.status = 'pending' AND d.lease_until IS NULL
         AND d.next_attempt > $2
       ORDER BY d.next_attempt LIMIT $4 ${notLeased(tx, "d")})`,
    [endpointId, after, dueAt, limit, environment],
  );
}

/** First attempts of an environment that are due after a time of it, and when they should be. */
export interface LateFirstAttempts extends Omit<QueueRequest, "endpointId"> {
  after: number;
  /**
   * The lowest ID of a delivery created then. A first attempt is due when its delivery is created, so no others are
   * read.
   */
  lowestId: string;
}

/** Makes first attempts due that wait for a time of a wrong clock. Returns how many. */
export function rescheduleFirstAttempts(
  tx: Transaction,
  { environment, after, lowestId, dueAt, limit }: LateFirstAttempts,
): Promise<number> {
  return tx.run(
    `UPDATE deliveries SET next_attempt = $4
     WHERE id IN (
       SELECT d.id FROM deliveries d
       WHERE d.environment = $1 AND d.status = 'pending' AND d.id >= $2 AND d.next_attempt > $3
         AND d.attempt_count = 0 AND d.lease_until IS NULL
       ORDER BY d.id LIMIT $5 ${notLeased(tx, "d")})`,
    [environment, lowestId, after, dueAt, limit],
  );
}

/** Returns an endpoint's first waiting deliveries that are due by a time of the environment. */
export function firstDue(queries: Queries, { environment, endpointId, dueAt, limit }: QueueRequest) {
  return queries.all<Pick<QueuedDelivery, "next_attempt" | "attempt_count">>(
    `SELECT next_attempt, attempt_count FROM deliveries
     WHERE environment = $1 AND endpoint_id = $2 AND ${WAITING} AND next_attempt <= $3 ORDER BY next_attempt LIMIT $4`,
    [environment, endpointId, dueAt, limit],
  );
}

/**
 * Returns how many pending deliveries of an environment's enabled endpoints are due by a time of it, those in flight
 * included.
 */
export async function countDue(queries: Queries, environment: number, dueAt: number): Promise<number> {
  const row = await queries.get<{ count: number }>(
    `SELECT COUNT(*) AS count FROM deliveries d
     JOIN webhook_endpoints w ON w.environment = d.environment AND w.id = d.endpoint_id AND w.status = 'enabled'
     WHERE d.environment = $1 AND d.status = 'pending' AND d.next_attempt <= $2`,
    [environment, dueAt],
  );
  return row?.count ?? 0;
}

/** Returns an endpoint's due deliveries that no one else is claiming, to be leased in the same transaction. */
export function findDue(tx: Transaction, { environment, endpointId, dueAt, limit }: QueueRequest) {
  return tx.all<QueuedDelivery>(dueBy(tx, "$4"), [endpointId, limit, environment, dueAt]);
}

/** Returns the same as `findDue`, by the environment's clock and the time that leases are measured by. */
export function findDueNow(
  tx: Transaction,
  endpoint: { environment: number; id: string },
  now: () => number,
  limit: number,
): Promise<QueuedDelivery[]> {
  const offset = "(SELECT clock_offset FROM environments WHERE id = $3)";
  const parameters = [endpoint.id, limit, endpoint.environment];
  if (tx.dialect === "postgres") return tx.all(dueBy(tx, `${SERVER_TIME} + ${offset}`), parameters);
  return tx.all(dueBy(tx, `${offset} + $4`), [...parameters, now()]);
}

/** The statement takes the endpoint's ID, the limit, the environment, and what `time` needs. */
function dueBy(tx: Transaction, time: string): string {
  return `SELECT ${QUEUED}
     FROM deliveries d LEFT JOIN events e ON e.environment = d.environment AND e.id = d.event_id
     WHERE d.environment = $3 AND d.endpoint_id = $1 AND d.status = 'pending' AND d.lease_until IS NULL
       AND d.next_attempt <= ${time}
     ORDER BY d.next_attempt LIMIT $2 ${notLeased(tx, "d")}`;
}

/**
 * Returns a disabled endpoint's deliveries whose 3 days of retries are over, to be leased in the same transaction. The
 * days of one without an attempt since it was created or retried begin when it became due.
 */
export function findEnded(
  tx: Transaction,
  endpoint: { environment: number; id: string },
  /** The lowest ID of a delivery created at `startedBefore`. */
  beforeId: string,
  startedBefore: number,
  limit: number,
): Promise<QueuedDelivery[]> {
  return tx.all(
    `SELECT id, environment, event_id, event_type, attempt_count, first_attempt, next_attempt, 0 AS body_bytes,
            NULL AS trace
     FROM deliveries
     WHERE environment = $1 AND endpoint_id = $2 AND status = 'pending' AND id < $3 AND lease_until IS NULL
       AND COALESCE(first_attempt, next_attempt) < $4
     ORDER BY id LIMIT $5 ${notLeased(tx, "deliveries")}`,
    [endpoint.environment, endpoint.id, beforeId, startedBefore, limit],
  );
}

/** Rows that another process is leasing at this moment are skipped; leasing them too would attempt them twice. */
function notLeased(tx: Transaction, table: string): string {
  return locking(tx, `FOR UPDATE OF ${table} SKIP LOCKED`);
}

/** `begunAt`: when attempts begin at the earliest, if due, in the environment's time; null if later or never. */
export async function setLease(tx: Transaction, rows: readonly { id: string }[], lease: Lease, begunAt: number | null) {
  const ids = rows.map(({ id }) => id);
  await inBatches(ids, (list, batch) => {
    const [until, token, begun] = [1, 2, 3].map((offset) => `$${batch.length + offset}`);
    return tx.all(
      `UPDATE deliveries SET lease_until = ${until}, lease_token = ${token},
         begun_at = CASE WHEN next_attempt > ${begun} THEN next_attempt ELSE CAST(${begun} AS BIGINT) END
       WHERE id IN (${list})`,
      [...batch, lease.until, lease.token, begunAt],
    );
  });
}

/** Records that the attempts of leased deliveries have begun, so that they count even if this process crashes. */
export const markStarted = forRows<{ id: string; token: string; at: number }>(
  3,
  (rows) =>
    `UPDATE deliveries SET begun_at = CAST(o.column3 AS BIGINT)
     FROM (VALUES ${rows}) AS o WHERE deliveries.id = o.column1 AND deliveries.lease_token = o.column2`,
  ({ id, token, at }) => [id, token, at],
);

const RELEASED = "lease_until = NULL, lease_token = NULL, begun_at = NULL";
const ABANDONED = `SELECT ${QUEUED}, d.endpoint_id, d.lease_token, d.begun_at, v.clock_offset,
    (SELECT a.error FROM attempts a WHERE a.delivery_id = d.id AND a.number = d.attempt_count) AS last_error
  FROM deliveries d JOIN environments v ON v.id = d.environment
  LEFT JOIN events e ON e.environment = d.environment AND e.id = d.event_id`;

type Dialect = Transaction["dialect"];

const ofDialects = <Value>(of: (dialect: Dialect) => Value) => ({ sqlite: of("sqlite"), postgres: of("postgres") });

const insertOutcomes = ofDialects((dialect) =>
  forRows<AttemptOutcome>(
    9,
    (rows) =>
      `INSERT INTO attempts (${ATTEMPT_COLUMNS.join(", ")})
       SELECT d.id, d.attempt_count + 1, CAST(o.column3 AS BIGINT), CAST(o.column4 AS INTEGER), o.column5,
              CAST(o.column6 AS INTEGER), o.column7, o.column8, o.column9
       FROM (VALUES ${rows}) AS o
       CROSS JOIN deliveries d WHERE d.id = o.column1 AND d.lease_token = o.column2
       ${locking({ dialect }, "FOR UPDATE OF d")}`,
    (o) => [
      o.id,
      o.token,
      o.at,
      o.status_code,
      o.error,
      o.duration_ms,
      o.request_headers,
      o.response_headers,
      o.response_excerpt,
    ],
  ),
);

// A retry requested during the attempt counts unless the attempt succeeded. It is due at the earlier of both times.
const RETRIED = "o.column3 <> 'succeeded' AND next_attempt <> CAST(o.column6 AS BIGINT)";
const SCHEDULED = "CAST(o.column4 AS BIGINT)";
// A delivery that was canceled during the attempt stays canceled unless the attempt succeeded.
const CANCELED = "status = 'canceled' AND o.column3 <> 'succeeded'";

const updateAttempted = forRows<AttemptOutcome>(
  6,
  (rows) =>
    `UPDATE deliveries
     SET status = CASE WHEN ${CANCELED} THEN 'canceled' WHEN ${RETRIED} THEN 'pending' ELSE o.column3 END,
         next_attempt = CASE WHEN ${CANCELED} THEN NULL WHEN ${RETRIED} AND next_attempt < COALESCE(${SCHEDULED}, next_attempt + 1)
                        THEN next_attempt ELSE ${SCHEDULED} END,
         attempt_count = attempt_count + 1,
         first_attempt = CASE WHEN ${RETRIED} AND o.column3 = 'failed' THEN NULL
                         ELSE COALESCE(first_attempt, CAST(o.column5 AS BIGINT)) END,
         ${RELEASED}
     FROM (VALUES ${rows}) AS o
     WHERE deliveries.id = o.column1 AND deliveries.lease_token = o.column2`,
  (o) => [o.id, o.token, o.status, o.next_attempt, o.at, o.claimed_due],
);

/**
 * Records the results of attempts, and returns how many: deliveries that another process has taken over since stay as
 * they are, and so do those whose result an uncertain commit has recorded.
 */
export async function recordOutcomes(tx: Transaction, outcomes: readonly AttemptOutcome[]): Promise<number> {
  // Sent together; they are executed in order.
  const [recorded] = await Promise.all([insertOutcomes[tx.dialect](tx, outcomes), updateAttempted(tx, outcomes)]);
  return recorded;
}

/** Returns the tokens of the leases on deliveries, by the delivery's ID. No other process takes them over meanwhile. */
export async function lockLeases(tx: Transaction, ids: readonly string[]): Promise<Map<string, string>> {
  const lock = locking(tx, "FOR UPDATE");
  const leases = await inBatches(ids, (list, batch) =>
    tx.all<{ id: string; lease_token: string }>(
      `SELECT id, lease_token FROM deliveries WHERE id IN (${list}) AND lease_until IS NOT NULL ORDER BY id ${lock}`,
      batch,
    ),
  );
  return new Map(leases.map(({ id, lease_token: token }) => [id, token]));
}

/** Releases leases whose attempts did not begin, or whose result is unknown. */
export async function releaseLeases(tx: Transaction, leased: readonly { id: string; token: string }[]): Promise<void> {
  const sql = `UPDATE deliveries SET ${RELEASED} WHERE id = $1 AND lease_token = $2`;
  await Promise.all(leased.map(({ id, token }) => tx.run(sql, [id, token])));
}

export async function releaseTokens(tx: Transaction, tokens: readonly string[]): Promise<void> {
  const sql = `UPDATE deliveries SET ${RELEASED} WHERE lease_until IS NOT NULL AND lease_token = $1`;
  await Promise.all(tokens.map((token) => tx.run(sql, [token])));
}

// No lease is that long: it was taken before the database's clock was set back.
const LAPSED = `lease_until IS NOT NULL AND (lease_until < $1 OR lease_until > $1 + 3600000)
  AND substr(lease_token, 1, length($2)) <> $2`;

/**
 * Returns true if another process holds a lease that has expired: it is dead or stuck. Tokens begin with their owner.
 */
export async function hasLapsedLease(queries: Queries, now: number, owner: string): Promise<boolean> {
  return (await queries.get(`SELECT id FROM deliveries WHERE ${LAPSED} LIMIT 1`, [now, owner])) !== undefined;
}

/** Returns expired leases of other owners, except those that another process is taking over now. */
export function findLapsed(tx: Transaction, now: number, owner: string, limit: number): Promise<AbandonedLease[]> {
  return tx.all(`${ABANDONED} WHERE ${LAPSED} LIMIT $3 ${notLeased(tx, "d")}`, [now, owner, limit]);
}

/** Returns every lease, for the only process, before it has claimed anything. */
export function findAllLeased(tx: Transaction): Promise<AbandonedLease[]> {
  return tx.all(`${ABANDONED} WHERE lease_until IS NOT NULL`);
}

/** Returns true while a lease on one of the environment's deliveries is held. */
export async function hasLeased(queries: Queries, environment: number): Promise<boolean> {
  // Leases are few. An index by environment would search all of its deliveries.
  const leased = await queries.all<{ environment: number }>(
    "SELECT environment FROM deliveries WHERE lease_until IS NOT NULL AND lease_until > 0",
  );
  return leased.some((row) => row.environment === environment);
}
