import type { DeliveryStatus } from "../../contract/schemas/delivery.ts";
import type { Queries, Transaction } from "./database.ts";

export interface DeliveryRow {
  id: string;
  environment: number;
  event_id: string;
  event_type: string;
  endpoint_id: string | null;
  listener_id: string | null;
  status: DeliveryStatus;
  attempt_count: number;
  /** When the next attempt is due; null once the delivery has ended. */
  next_attempt: number | null;
  created: number;
}

const COLUMNS =
  "id, environment, event_id, event_type, endpoint_id, listener_id, status, attempt_count, next_attempt, created";

export async function insertDelivery(tx: Transaction, row: DeliveryRow): Promise<void> {
  await tx.run(`INSERT INTO deliveries (${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`, [
    row.id,
    row.environment,
    row.event_id,
    row.event_type,
    row.endpoint_id,
    row.listener_id,
    row.status,
    row.attempt_count,
    row.next_attempt,
    row.created,
  ]);
}

/** The delivery of an event to a listener, where one was recorded. */
export function findListenerDelivery(queries: Queries, environment: number, eventId: string, listenerId: string) {
  return queries.get<{ id: string }>(
    "SELECT id FROM deliveries WHERE environment = $1 AND event_id = $2 AND listener_id = $3",
    [environment, eventId, listenerId],
  );
}

/** Counts one more attempt of a listener's delivery, with its outcome. */
export async function recordListenerOutcome(tx: Transaction, id: string, status: DeliveryStatus): Promise<void> {
  await tx.run("UPDATE deliveries SET status = $2, attempt_count = attempt_count + 1 WHERE id = $1", [id, status]);
}
