import { changesRow, type Queries, type Transaction } from "./database.ts";
import type { EnvironmentRow } from "./environments.ts";
import { columnsOf, type StoredFields } from "./field-values.ts";
import { rowsOf } from "./page.ts";

export interface WebhookEndpointRow extends StoredFields<"webhook_endpoint"> {
  environment: number;
  id: string;
  status: "enabled" | "disabled";
  /** Null while it is enabled. */
  disabled_reason: "user" | "gone" | null;
  disabled_at: number | null;
  /** The sealed signing secret. */
  secret: Uint8Array;
  secret_created: number;
  /** The sealed secret before the last rotation. It signs too until `previous_until`, in the environment's time. */
  previous_secret: Uint8Array | null;
  previous_until: number | null;
  created: number;
  /** Attempts that failed since the last successful one, and the times of the first and the last of them. */
  failures: number;
  first_failure: number | null;
  last_failure: number | null;
  /** 1 between the events `webhook_endpoint.failing` and `webhook_endpoint.recovered`. */
  failing_reported: 0 | 1;
}

/** The columns that requests change. */
const CHANGEABLE = [
  ...columnsOf("webhook_endpoint"),
  ...(["status", "disabled_reason", "disabled_at"] as const),
  ...(["secret", "secret_created", "previous_secret", "previous_until"] as const),
] satisfies (keyof WebhookEndpointRow)[];
/** All columns besides the health. */
export const ENDPOINT_COLUMNS = ["environment", "id", ...CHANGEABLE, "created"] as const;

/**
 * Gives the endpoints of a sandbox to the environment that replaces it, without their health. Its clock is at `now`, so
 * no change is later than that, and the rest of an overlap of two secrets stays as long as it was.
 */
export async function moveEndpoints(tx: Transaction, from: number, to: number, now: number): Promise<void> {
  const past = ["created", "secret_created", "disabled_at"].map(
    (time) => `${time} = CASE WHEN ${time} > $3 THEN $3 ELSE ${time} END`,
  );
  await tx.run(
    `UPDATE webhook_endpoints
     SET environment = $2, failures = 0, first_failure = NULL, last_failure = NULL, failing_reported = 0,
       ${past.join(", ")}, previous_until = previous_until - (SELECT clock_offset FROM environments WHERE id = $1)
     WHERE environment = $1`,
    [from, to, now],
  );
}

/** Disables an endpoint that is gone, unless its URL has changed since. `at` is the environment's time. */
export function disableEndpoint(
  tx: Transaction,
  { environment, id, url, at }: Pick<WebhookEndpointRow, "environment" | "id" | "url"> & { at: number },
): Promise<boolean> {
  return changesRow(
    tx,
    `UPDATE webhook_endpoints SET status = 'disabled', disabled_reason = 'gone', disabled_at = $4
     WHERE environment = $1 AND id = $2 AND url = $3 AND status = 'enabled'`,
    [environment, id, url, at],
  );
}

/** Outcomes of an endpoint's attempts, in the order in which they ended. */
export interface EndpointOutcomes {
  environment: number;
  id: string;
  /** True if one of them succeeded. */
  succeeded: boolean;
  /** Number of attempts that failed after the last successful one. */
  failures: number;
  first: number | null;
  last: number | null;
}

/**
 * Counts the attempts that failed in a row. Writes nothing while all succeed. Returns true if the endpoint's health may
 * have changed: then its row is locked until the transaction ends.
 */
export function countFailuresInRow(tx: Transaction, outcomes: EndpointOutcomes): Promise<boolean> {
  const { environment, id, succeeded, failures, first, last } = outcomes;
  return changesRow(
    tx,
    `UPDATE webhook_endpoints
     SET failures = CASE WHEN $3 = 1 THEN 0 ELSE failures END + $4,
         first_failure = CASE WHEN $3 = 1 OR failures = 0 THEN CAST($5 AS BIGINT) ELSE first_failure END,
         last_failure = CAST($6 AS BIGINT)
     WHERE environment = $1 AND id = $2 AND (failures > 0 OR $4 > 0 OR failing_reported = 1)`,
    [environment, id, succeeded ? 1 : 0, failures, first, last],
  );
}

export async function setFailingReported(tx: Transaction, environment: number, id: string, isFailing: boolean) {
  const sql = "UPDATE webhook_endpoints SET failing_reported = $3 WHERE environment = $1 AND id = $2";
  await tx.run(sql, [environment, id, isFailing ? 1 : 0]);
}

export const endpointRows = rowsOf<WebhookEndpointRow>(
  "webhook_endpoints",
  // The health is written by the delivery engine only.
  `${ENDPOINT_COLUMNS.join(", ")}, failures, first_failure, last_failure, failing_reported`,
  CHANGEABLE,
);

export async function countEndpoints(queries: Queries, environment: number): Promise<number> {
  const sql = "SELECT COUNT(*) AS count FROM webhook_endpoints WHERE environment = $1";
  return (await queries.get<{ count: number }>(sql, [environment]))?.count ?? 0;
}

/** The columns of an endpoint that creating deliveries needs. */
export type SubscribedEndpoint = Pick<WebhookEndpointRow, "id" | "events">;

export function enabledEndpoints(queries: Queries, environment: number): Promise<readonly SubscribedEndpoint[]> {
  const sql = "SELECT id, events FROM webhook_endpoints WHERE environment = $1 AND status = 'enabled'";
  return queries.allShared(sql, [environment]);
}

/** The settings that an attempt uses. Each lease of deliveries reads them, so the others are left out. */
const SETTINGS_OF_ATTEMPTS = ["url", "headers"] as const satisfies (keyof StoredFields<"webhook_endpoint">)[];
const TARGET_COLUMNS = [
  ...SETTINGS_OF_ATTEMPTS,
  ...(["environment", "id", "status", "secret", "previous_secret", "previous_until"] as const),
];
const CLOCK_COLUMNS = ["clock_offset", "clock_held_until"] as const;
const FIND_TARGET = `
  SELECT ${[...TARGET_COLUMNS.map((column) => `w.${column}`), ...CLOCK_COLUMNS.map((column) => `v.${column}`)].join(", ")}
  FROM webhook_endpoints w JOIN environments v ON v.id = w.environment WHERE w.environment = $1 AND w.id = $2`;

/** The endpoint data that an attempt needs, and its environment's clock. */
export type DeliveryTarget = Pick<EnvironmentRow, (typeof CLOCK_COLUMNS)[number]> &
  Pick<WebhookEndpointRow, (typeof TARGET_COLUMNS)[number]>;

export function findTarget(queries: Queries, environment: number, id: string) {
  return queries.get<DeliveryTarget>(FIND_TARGET, [environment, id]);
}

/** Returns disabled endpoints with waiting deliveries created before an ID of their kind. */
export function disabledWithWaiting(queries: Queries, environment: number, beforeId: string) {
  return queries.all<{ environment: number; id: string }>(
    `SELECT w.environment, w.id FROM webhook_endpoints w
     WHERE w.environment = $1 AND w.status = 'disabled' AND EXISTS (
       SELECT 1 FROM deliveries d
       WHERE d.environment = w.environment AND d.endpoint_id = w.id AND d.status = 'pending' AND d.id < $2)`,
    [environment, beforeId],
  );
}
